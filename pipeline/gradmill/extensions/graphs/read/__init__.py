"""Reads functions, from `.py` and `.pt2` files."""
