"""Functionalization: the function without mutation and aliasing, and what its wrapper has to write and view."""
