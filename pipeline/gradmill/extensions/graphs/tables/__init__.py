"""What operators do that their schemas do not say, found by calling those of torch; for autocast on other devices than
the CPU, read from torch's header. `python -m tests.graphs.tables` writes these tables, and a test derives them again.

A line has an operator of ATen, `add_.Tensor`, and words. The module that reads a table says what they mean.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def read_table(name: str) -> dict[str, list[str]]:
    """The words of each operator of a table, by its identity, `aten::add_.Tensor`."""
    lines = map(str.split, (FOLDER / f"{name}.txt").read_text("utf-8").splitlines())
    return {f"aten::{operator}": words for operator, *words in lines}
