"""The generated kernels, in torch: `python -m tests.in_torch`.

VariableType, ADInplaceOrViewType and ViewFuncs of the core spec set, with its Nodes, are compiled into one library, and
loaded into a process: from then on torch's operators have our kernels in place of its own. What operators give there,
in value, gradient, second gradient and tangent, out of place, in place, with `out=` and as views, is compared with what
they give in a process that has not loaded it. Errors count as values.

| module | what it does |
|---|---|
| `sources` | the generated files |
| `library` | how they are compiled, and what is run, in which order: a Ninja file |
| `calls` | one call of an operator, and everything that can be asked of it |
| `samples` | the calls: torch's own samples of its operators, and the cases of `tests/cpp` |
| `record` | a process that makes the calls, with the library or without, and writes down what came out |
| `kernels` | which kernels are registered, and which ran |
| `differences` | both records, compared |
"""
