"""The C++ of networks by their number of layers: its size, and the CPU time that the compiler takes.

    python bench/graph_sizes.py [-O0 | -O2] LAYERS…

A layer is Linear, BatchNorm and ReLU: four parameters and three buffers, of which the graph writes three. Without an
optimization, nothing is compiled. The last line has the power of the layers that the size grows with: 1 is linear.
"""

from __future__ import annotations

import math
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from graphs import library  # noqa: E402
from graphs.networks import generated_files  # noqa: E402


def seconds(files: list[Path], optimize: str, folder: Path) -> float:
    """The CPU time of the compiler for all sources, one after another, without precompiled headers."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    for source in (each for each in files if each.suffix == ".cpp"):
        words = [*library.flags(optimize), f"-I{source.parent.parent}", "-c", str(source), "-o", str(folder / "net.o")]
        subprocess.run(["c++", *words], check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def power(points: list[tuple[int, float]]) -> float:
    """The power of the layers that a figure grows with: the slope of the line through the logarithms."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def main(words: list[str]) -> None:
    """Prints a line for each network, and the growth."""
    optimize = next((word for word in words if word.startswith("-O")), "")
    sizes = []
    with tempfile.TemporaryDirectory() as temporary:
        for layers in (int(word) for word in words if word.isdigit()):
            files = generated_files(layers, Path(temporary))
            sizes.append((layers, float(sum(file.stat().st_size for file in files))))
            line = f"{layers:5} layers: {sizes[-1][1]:12,.0f} bytes in {len(files)} files"
            if optimize:
                line += f", {seconds(files, optimize, Path(temporary)):7.1f} s"
            print(line, flush=True)
    if len(sizes) > 1:
        print(f"bytes grow with the layers to the power of {power(sizes):.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
