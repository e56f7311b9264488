"""In-place operators and views, as PyTorch's note on them has it, with torch's Nodes and with those of the core set."""
