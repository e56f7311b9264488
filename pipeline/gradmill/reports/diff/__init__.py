"""Compares the autograd of two spec sets: reads each as facts, compares these once, renders the result three ways."""
