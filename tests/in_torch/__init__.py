"""The generated kernels, in torch: `python -m tests.in_torch`.

VariableType, ADInplaceOrViewType and ViewFuncs of the core spec set, with its Nodes, are compiled into one library, and
loaded into a process: from then on torch's operators have our kernels in place of its own. What operators give there,
in value, gradient, second gradient and tangent, out of place, in place, with `out=` and as views, is compared with what
they give in a process that has not loaded it. Errors count as values.

With `--specs torch` the same is done for the installed torch's own specs, whose kernels use libtorch's Nodes. What they
call and libtorch does not export is written anew if nearly all need it, and throws otherwise: answers that end there
are counted, not compared.

| module | what it does |
|---|---|
| `sources` | the generated files |
| `library` | how they are compiled, and what is run, in which order: a Ninja file |
| `calls` | one call of an operator, and everything that can be asked of it |
| `samples` | calls: torch's samples of its operators |
| `own_cases`, `more_cases` | calls: the cases of `tests/cpp`, and for what no other reaches |
| `record` | a process that makes the calls, with the library or without, and writes down what came out |
| `kernels` | which kernels are registered, and which ran |
| `differences`, `report` | both records, compared; counts and reasons |
| `faults` | faults put into kernels, which the comparison has to notice |
| `stand_ins` | functions that throw, for those that libtorch does not export |
"""
