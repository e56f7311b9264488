"""The generated Python bindings in an extension module outside of PyTorch, as docs/consumers.md describes it.

`module.cpp` has the tables of bindings, `hidden.cpp` what they use and libtorch_python does not export.
"""
