"""Runs the generated kernels in torch, and compares: see the docstring of the package."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from never_wrong.campaign import Trial, options, run
from project import ROOT

from in_torch import differences, kernels, known, library, report, sources


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, None)
    parser.add_argument("--samples", type=int, default=6, help="samples of an operator (6)")
    parser.add_argument("--device", choices=["cpu", "toy"], default="cpu", help="the device that has ours (cpu)")
    parser.add_argument("--quick", action="store_true", help="do not compare with numeric derivatives")
    parser.add_argument("--folder", type=Path, help="where to work, and what to keep for the next time")
    wanted = parser.parse_args(words)
    return run(_trials(wanted), wanted)


def _trials(wanted: argparse.Namespace) -> Iterator[Trial]:
    """One, of all operators."""
    folder = (wanted.folder or ROOT / "build" / "in_torch_core").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    files = sources.core(folder)
    built, of = (library.CPU, known.CPU) if wanted.device == "cpu" else (library.TOY, known.TOY)
    words = f"--samples {wanted.samples} --nodes {sources.NODES}{' --quick' * wanted.quick}"
    library.build(folder, files, built, options=words)
    ours, stock = (differences.load(built.all_records(folder, who)) for who in ("ours", "stock"))
    expected = kernels.Expected.of(files.shards)
    expected = expected if wanted.device == "cpu" else expected.at_the_toy()
    status = report.report(expected, ours, stock, of)
    yield Trial("core", "kernels are not torch's" if status else "")
