"""Graphs as C++: forward, backward, the Node, the wrapper."""
