"""Values of a graph as C++ expressions."""
