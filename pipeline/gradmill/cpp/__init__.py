"""The C++ API of operators (names, types, bindings), and the parsing of C++ formulas and headers."""
