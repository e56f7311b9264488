"""The toy device of `examples/vendor`: its name, in the process that loads it."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import torch

DEVICE = "toy"


def know(library: Path) -> None:
    """Loads the device, and gives it its name."""
    torch.utils.rename_privateuse1_backend(DEVICE)
    module: Any = types.ModuleType(f"torch.{DEVICE}")
    module._is_in_bad_fork = lambda: False
    module.is_available = lambda: True
    module.device_count = lambda: 1
    module.current_device = lambda: 0
    module.manual_seed_all = lambda seed: None  # what is random is drawn on the CPU
    torch._register_device_module(DEVICE, module)
    torch.ops.load_library(str(library.resolve()))
