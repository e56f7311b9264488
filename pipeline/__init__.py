"""gradmill: PyTorch's autograd C++ from its YAML specs, as an incremental build graph."""

__version__ = "0.1.0"
