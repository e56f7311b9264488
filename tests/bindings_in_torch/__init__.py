"""The generated Python bindings, called: `python -m tests.bindings_in_torch`.

The functions of linalg, fft and special and the classes of named results, generated for the installed torch's own
specs, are compiled into an extension module. Each function is called next to torch's own one of that name, with equal
arguments, in one process: results, their types, warnings, errors with their messages, and what is left of the
arguments have to be equal. All other bindings equal torchgen's byte for byte, which `tests/families` checks.
`tests/in_torch` does the same for kernels.

| module | what it does |
|---|---|
| `build` | the generated files, compiled and linked by Ninja |
| `module.cpp` | the tables of bindings, as an extension module |
| `hidden.cpp` | what the bindings use and libtorch_python does not export |
| `tables` | pairs of bindings: ours and torch's |
| `arguments`, `rows` | a call as data: descriptions of arguments, each made twice |
| `by_hand`, `misuse` | calls: what is written down, and what is wrong for every binding |
| `schemas`, `samples` | calls: from torch's schemas, and from its samples of operators |
| `return_types` | the classes of named results |
| `answers` | what a call gives, as data to compare |
| `run` | a process that makes the calls, and writes down what differs |
| `faults` | faults put into generated text, which the comparison has to notice |
| `report` | the counts, and what differs |
"""
