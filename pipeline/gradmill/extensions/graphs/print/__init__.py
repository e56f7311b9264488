"""Generates the C++ of graphs: forward, backward, the Node, the wrapper."""
