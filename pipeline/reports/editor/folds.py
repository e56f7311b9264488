"""The parts of a spec file that an editor may fold: entries, and runs of comments."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from pipeline.reports.editor.outline import comment_runs, outline


class Fold(Struct, frozen=True, order=True):
    """The first and the last line of a part."""

    first: int
    last: int
    is_comment: bool = False


def folds(lines: Sequence[str]) -> list[Fold]:
    """The parts of a text, in its order."""
    found = [Fold(block.line, block.last) for block in outline(lines) if block.last > block.line]
    for block in outline(lines):
        fields = (field for field in block.body.fields if field.key == "dispatch" and field.last > field.line)
        found += [Fold(block.line + field.line, block.line + field.last) for field in fields]
    return sorted([*found, *(Fold(first, last, True) for first, last in comment_runs(lines))])
