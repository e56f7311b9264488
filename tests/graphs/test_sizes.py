"""C++ of deep networks: its size, and what the compiler takes, grow linearly with the layers; no source is huge."""

from __future__ import annotations

import resource
import subprocess
from pathlib import Path

import pytest
import torch
from cpp import toolchain
from torch import nn

from graphs import library

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

LAYERS = (8, 16, 32, 64)
MEGABYTE = 1_000_000
BUSY = 0.4  # how far from a line CPU seconds may be: those of a busy machine differ by a fifth


def sources(layers: int, folder: Path) -> list[Path]:
    """The C++ of a network; a layer is Linear, BatchNorm and ReLU: four parameters and three buffers."""
    modules = [module for _ in range(layers) for module in (nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU())]
    path = folder / f"net{layers}.pt2"
    torch.export.save(torch.export.export(nn.Sequential(*modules), (torch.rand(5, 4),)), path)
    generated = library.generate(path, folder / str(layers), "sizes", "torch")
    return sorted((generated / "graphs").glob(f"net{layers}*.cpp"))


def seconds(files: list[Path]) -> float:
    """CPU seconds that the compiler takes to read and check the sources, with precompiled headers."""
    flags = [*library.flags("-O0"), "-include", str(library.precompiled("-O0")), "-fsyntax-only"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    for source in files:
        subprocess.run(["c++", *flags, f"-I{source.parent.parent}", str(source)], check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def distance_from_a_line(points: dict[int, float]) -> float:
    """The largest distance of a point from the line that fits them best, as a part of the point."""
    count, xs, ys = len(points), list(points), list(points.values())
    mean_x, mean_y = sum(xs) / count, sum(ys) / count
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points.items()) / sum((x - mean_x) ** 2 for x in xs)
    return max(abs(y - mean_y - slope * (x - mean_x)) / y for x, y in points.items())


@pytest.mark.alternates(2)
@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
def test_text_and_compile_time_grow_linearly_with_layers(tmp_path: Path) -> None:
    networks = {layers: sources(layers, tmp_path) for layers in LAYERS}
    sizes = {layers: [file.stat().st_size for file in files] for layers, files in networks.items()}
    assert max(map(max, sizes.values())) < MEGABYTE
    assert len(sizes[64]) > len(sizes[8])
    assert distance_from_a_line({layers: float(sum(each)) for layers, each in sizes.items()}) < 0.1
    times = {layers: seconds(files) for layers, files in networks.items()}
    assert distance_from_a_line(times) < BUSY, times


def test_quadratic_growth_is_not_taken_for_a_line() -> None:
    assert distance_from_a_line({layers: 100.0 + layers * layers for layers in LAYERS}) > 2 * BUSY
    assert distance_from_a_line({layers: 100.0 + layers for layers in LAYERS}) < 1e-9
