"""The generated Python bindings, called: `python -m tests.bindings_in_torch`.

The sources of the families `bindings`, `return_types` and `enum_tag`, generated for the installed torch's own specs,
are compiled into an extension module. Each of its functions and methods is called next to torch's own one of that
name, with equal arguments, in one process: results, their types, warnings, errors with their messages, and what is
left of the arguments have to be equal. `tests/in_torch` does the same for kernels.

`--small` takes the functions of linalg, fft and special alone, whose sources compile in half a minute.

| module | what it does |
|---|---|
| `build` | the generated files, compiled and linked by Ninja. `measured` notes what each compilation costs |
| `module.cpp`, `tags.cpp` | the tables of bindings, and the tags, as extension modules |
| `hidden.cpp` | what the bindings use and libtorch_python does not export; `symbols` lists it |
| `tables` | pairs of bindings: ours and torch's |
| `arguments`, `rows` | a call as data: descriptions of arguments, each made twice |
| `by_hand`, `misuse` | calls: what is written down, and what is wrong for every binding |
| `schemas`, `samples` | calls: from torch's schemas, and from its samples of operators |
| `programs` | training of small networks, and other Python code, with all bindings replaced |
| `return_types`, `tags` | the classes of named results; the enumeration of tags |
| `answers` | what a call gives, as data to compare |
| `run` | a process that makes the calls, and writes down what differs |
| `known` | what cannot be called, or differs, and why |
| `faults` | faults put into generated text, which the comparison has to notice |
| `report` | the counts, and what differs |
"""
