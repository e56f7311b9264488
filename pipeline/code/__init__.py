"""The program's own code as an input of all that it computes: one digest of its files; bytecode."""
