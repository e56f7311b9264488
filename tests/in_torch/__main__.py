"""Runs the generated kernels in torch, and compares: see the docstring of the package."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from project import ROOT

from in_torch import differences, kernels, known, library, report, sources


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.in_torch", description=__doc__)
    parser.add_argument("--samples", type=int, default=6, help="samples of an operator (6)")
    parser.add_argument("--device", choices=["cpu", "toy"], default="cpu", help="the device that has ours (cpu)")
    parser.add_argument("--quick", action="store_true", help="do not compare with numeric derivatives")
    parser.add_argument("--folder", type=Path, help="where to work, and what to keep for the next time")
    options = parser.parse_args()
    folder = (options.folder or ROOT / "build" / "in_torch_core").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    files = sources.core(folder)
    built, of = (library.CPU, known.CPU) if options.device == "cpu" else (library.TOY, known.TOY)
    library.build(
        folder, files, built, options=f"--samples {options.samples} --nodes {sources.NODES}{' --quick' * options.quick}"
    )
    ours, stock = (differences.load(built.all_records(folder, who)) for who in ("ours", "stock"))
    expected = kernels.Expected.of(files.shards)
    expected = expected if options.device == "cpu" else expected.at_the_toy()
    return report.report(expected, ours, stock, of)


if __name__ == "__main__":
    sys.exit(main())
