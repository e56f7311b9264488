"""The seed of torch's random numbers on the CPU, which is where all of the tests' are drawn."""

from __future__ import annotations

import torch


def seed_torch(number: int) -> None:
    """What `torch.manual_seed` does for the CPU: for absent devices that keeps its caller's stack, which takes 1 ms."""
    torch.default_generator.manual_seed(number)
