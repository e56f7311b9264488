"""The generated kernels, in torch: `python -m tests.campaigns in_torch`.

VariableType, ADInplaceOrViewType and ViewFuncs of the core spec set, with its Nodes, are compiled into one library, and
loaded into a process: from then on torch's operators have our kernels in place of its own. What operators give there,
in value, gradient, second gradient and tangent, out of place, in place, with `out=` and as views, is compared with what
they give in a process that has not loaded it. Errors count as values.

Those of torch's own specs are torchgen's byte for byte, as its own kernels are: they need no comparison here.

With `--device toy` the same objects are a library of the toy device of `examples/vendor`, as a backend outside of
PyTorch has one: VariableType's kernels are at AutogradPrivateUse1, and torch's stay where they were. One process asks
torch's on the CPU, loads the library, and asks ours on the toy.

| module | what it does |
|---|---|
| `sources` | the generated files |
| `library` | how they are compiled, and what is run, in which order: a Ninja file |
| `calls` | one call of an operator, and everything that can be asked of it |
| `samples`, `described` | calls: torch's samples of its operators, from its descriptions of them |
| `own_cases`, `more_cases` | calls: the cases of `tests/cpp`, and for what no other reaches |
| `record` | a process that makes the calls, with the library or without, and writes down what came out |
| `toy` | the toy device: its name, arguments on it. `toy_operators.cpp`: what it needs for all of torch's operators |
| `kernels` | which kernels are registered, and which ran. `registering.h`: how a library says where |
| `differences`, `report` | both records, compared; counts and reasons |
| `known` | what cannot run, or differs, and why |
| `faults` | faults put into kernels, which the comparison has to notice |
"""
