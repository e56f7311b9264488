"""The C++ of deep networks: its size grows linearly with the layers, and no source is huge."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphs.networks import generated_files

pytestmark = [pytest.mark.slow(8), pytest.mark.filterwarnings("ignore")]

LAYERS = (8, 16, 32, 64)
MEGABYTE = 1_000_000
MOST = 0.1  # how far from a line the bytes may be


def distance_from_a_line(points: dict[int, float]) -> float:
    """The largest distance of a point from the line that fits them best, as a part of the point."""
    count, xs, ys = len(points), list(points), list(points.values())
    mean_x, mean_y = sum(xs) / count, sum(ys) / count
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points.items()) / sum((x - mean_x) ** 2 for x in xs)
    return max(abs(y - mean_y - slope * (x - mean_x)) / y for x, y in points.items())


def test_text_grows_linearly_with_layers(tmp_path: Path) -> None:
    files = {layers: generated_files(layers, tmp_path) for layers in LAYERS}
    sizes = {layers: [file.stat().st_size for file in each if file.suffix == ".cpp"] for layers, each in files.items()}
    assert max(map(max, sizes.values())) < MEGABYTE
    assert len(sizes[64]) > len(sizes[8])
    assert distance_from_a_line({layers: float(sum(each)) for layers, each in sizes.items()}) < MOST


def test_quadratic_growth_is_not_taken_for_a_line() -> None:
    assert distance_from_a_line({layers: 100.0 + layers * layers for layers in LAYERS}) > 2 * MOST
    assert distance_from_a_line({layers: 100.0 + layers for layers in LAYERS}) < 1e-9
