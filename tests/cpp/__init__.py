"""The core Nodes as a Python extension, and the gradients that are compared."""
