"""The program's own code as an input of what it computes: sources, import statements, bytecode."""
