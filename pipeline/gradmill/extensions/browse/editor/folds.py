"""The parts of a spec file that an editor may fold: entries, dispatch tables, runs of comments."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from gradmill.extensions.browse.editor.outline import comment_runs, outline


class Fold(Struct, frozen=True, order=True):
    """The first and the last line of a part."""

    first: int
    last: int
    is_comment: bool = False


def folds(lines: Sequence[str]) -> list[Fold]:
    """The parts of a text, in its order."""
    found = []
    for block in outline(lines):
        tables = [field for field in block.body.fields if field.key == "dispatch"]
        parts = [(0, block.last - block.line), *((field.line, field.last) for field in tables)]
        found += [Fold(block.line + first, block.line + last) for first, last in parts if first < last]
    return sorted([*found, *(Fold(first, last, True) for first, last in comment_runs(lines))])
