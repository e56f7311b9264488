"""Networks of any depth as graphs: a layer is Linear, BatchNorm and ReLU, four parameters and three buffers."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from graphs import library


def generated_files(layers: int, folder: Path) -> list[Path]:
    """The generated files of a network."""
    modules = [module for _ in range(layers) for module in (nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU())]
    path = folder / f"net{layers}.pt2"
    torch.export.save(torch.export.export(nn.Sequential(*modules), (torch.rand(5, 4),)), path)
    generated = library.generate(path, folder / str(layers), "sizes", "torch")
    return sorted((generated / "graphs").glob(f"net{layers}.*"))
