"""C++ expressions for the values of a graph."""
