"""Code lenses above entries: how many units depend on the entry, and, if it was edited since the last run, which
of them a run would rebuild."""

from __future__ import annotations

from lsprotocol import types

from pipeline.front.lsp.buffers import Text
from pipeline.reports.editor.rebuilt import Cost

_NAMED = 4  # units that a lens lists


def lenses(costs: list[Cost], text: Text, encoding: str) -> list[types.CodeLens]:
    """The lenses of a file's entries."""
    result = []
    for cost in costs:
        title = title_of(cost)
        if title:
            place = text.range(cost.line - 1, 0, 0, encoding)
            result.append(types.CodeLens(place, types.Command(title, "")))
    return result


def title_of(cost: Cost) -> str:
    """The text for an entry; "" if no unit depends on it."""
    if cost.rebuilt is None:
        return f"{_units(cost.units)} made from it" if cost.units else ""
    if not cost.rebuilt:
        return "edited: rebuilds no unit"
    some = ", ".join(cost.rebuilt[:_NAMED]) + (", …" if len(cost.rebuilt) > _NAMED else "")
    return f"edited: rebuilds {_units(len(cost.rebuilt))}: {some}"


def _units(count: int) -> str:
    return f"{count} unit{'' if count == 1 else 's'}"
