"""Compilers, the core Nodes as a library with operators of tests, and the toy device."""
