"""The toy device of `examples/vendor`, to ask what is asked of the CPU; and what it lacks."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

DEVICE = "toy"
LAYOUTS = "layouts that the toy does not have"


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


def moved(arguments: Any, device: str) -> Any:
    """Arguments on another device: tensors with their strides, and the CPU where it is named. None where one of them
    has a layout that the toy does not have."""
    if device == "cpu":
        return arguments
    leaves, spec = pytree.tree_flatten(arguments)
    if any(isinstance(leaf, Tensor) and not _is_plain(leaf) for leaf in leaves):
        return None
    return pytree.tree_unflatten([_moved(leaf, device) for leaf in leaves], spec)


def _is_plain(tensor: Tensor) -> bool:
    return tensor.layout == torch.strided and not (tensor.is_nested or tensor.is_quantized)


def _moved(leaf: Any, device: str) -> Any:
    if isinstance(leaf, Tensor):
        with torch.no_grad():
            plain = leaf.resolve_conj().resolve_neg()
            memory = plain.untyped_storage().nbytes() // plain.element_size()
            whole = plain.as_strided((memory,), (1,), 0).to(device)
            tensor = whole.as_strided(plain.shape, plain.stride(), plain.storage_offset()).detach()
        return tensor.requires_grad_(leaf.requires_grad)
    if leaf == "cpu" if isinstance(leaf, str) else isinstance(leaf, torch.device) and leaf.type == "cpu":
        return torch.device(device)
    return leaf
