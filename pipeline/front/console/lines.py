"""What a run says of its units and files: one line a stage, with names where they are few."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.problems.plain import lines

_FEW = 8  # names that a line has room for


def done(stage: str, names: Sequence[str], count: int, what: str) -> str:
    """Of what was made: the names, or how many there are."""
    few = len(names) == count <= _FEW
    return lines([f".  {stage}: {', '.join(names) if few else counted(count, what)}"])


def left(stage: str, count: int, what: str) -> str:
    """Of what was up to date: how many there are."""
    return f"-- {stage}: {counted(count, what)}\n"


def ignored(stage: str, count: int, what: str) -> str:
    """Of what doit was told to ignore: how many there are."""
    return f"!! {stage}: {counted(count, what)}\n"


def counted(count: int, what: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
