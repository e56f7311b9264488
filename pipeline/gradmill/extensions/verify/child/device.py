"""A vendor's device: operators and formulas run there; samples, and what is computed of them, stay on the CPU."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from gradmill.extensions.verify.child.calls import mapped


class Device:
    """A device by its name as torch knows it; "" for the CPU, where nothing is moved."""

    def __init__(self, name: str) -> None:
        self.name = name

    def there(self, value: Any) -> Any:
        """A value with its tensors on the device. They require a gradient if the original ones do."""
        return mapped(self._there, value) if self.name else value

    def back(self, value: Any) -> Any:
        """A value with its tensors on the CPU."""
        return mapped(lambda tensor: tensor.to("cpu"), value) if self.name else value

    def _there(self, tensor: Tensor) -> Tensor:
        moved = tensor.to(self.name)
        return moved.requires_grad_() if tensor.requires_grad and not moved.requires_grad else moved
