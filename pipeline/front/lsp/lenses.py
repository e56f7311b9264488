"""Above each entry: how many units are made from it, and, where it was edited since the last run, which ones a run
would make again."""

from __future__ import annotations

from lsprotocol import types

from pipeline.front.lsp.buffers import Text
from pipeline.reports.editor.rebuilt import Cost

_NAMED = 4  # units that a line has room for


def lenses(costs: list[Cost], text: Text, encoding: str) -> list[types.CodeLens]:
    """The lines above the entries of a file."""
    found = []
    for cost in costs:
        title = title_of(cost)
        if title:
            place = text.range(cost.line - 1, 0, 0, encoding)
            found.append(types.CodeLens(place, types.Command(title, "")))
    return found


def title_of(cost: Cost) -> str:
    """What is said of an entry; nothing of one that nothing is made from."""
    if cost.again is None:
        return f"{_units(cost.made)} made from it" if cost.made else ""
    if not cost.again:
        return "edited: re-makes no unit"
    some = ", ".join(cost.again[:_NAMED]) + (", …" if len(cost.again) > _NAMED else "")
    return f"edited: re-makes {_units(len(cost.again))}: {some}"


def _units(count: int) -> str:
    return f"{count} unit{'' if count == 1 else 's'}"
