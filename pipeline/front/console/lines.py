"""The lines that a run prints about its units and files: one line per stage, with names if there are few."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.problems.plain import lines

FEW = 8  # names that fit on a line


def done(stage: str, names: Sequence[str], count: int, what: str) -> str:
    """The line for rebuilt units or files: their names, or their count."""
    few = len(names) == count <= FEW
    return lines([f".  {stage}: {', '.join(names) if few else counted(count, what)}"])


def up_to_date(stage: str, count: int, what: str) -> str:
    """The line for units or files that were up to date: their count."""
    return f"-- {stage}: {counted(count, what)}\n"


def ignored(stage: str, count: int, what: str) -> str:
    """The line for tasks that `doit ignore` excludes: their count."""
    return f"!! {stage}: {counted(count, what)}\n"


def summary(files: int, folder: str, changed: int, seconds: float | None = None, removed: int = 0) -> str:
    """The last line of a run: the number of generated files, how many changed, and how many others were deleted.
    `seconds`: the time of a run that had work to do."""
    took = "" if seconds is None else f", {seconds:.1f} s"
    gone = f"; {removed} removed" if removed else ""
    return lines([f"{counted(files, 'file')} in {folder}{took}; {changed or 'none'} changed{gone}"])


def counted(count: int, what: str) -> str:
    """A count with its noun: `1 file`, `2 files`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
