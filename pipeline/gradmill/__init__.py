"""gradmill: PyTorch's autograd C++ from its YAML specs, as an incremental build graph."""

import time

__version__ = "0.2.0"

STARTED = time.time_ns()  # all of this package was read after that
