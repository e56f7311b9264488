"""Code lenses above entries: how many units depend on the entry, and, if it was edited since the last run, which
of them a run would rebuild; whether its formulas are verified."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lsprotocol import types

from pipeline.front.console.lines import counted
from pipeline.front.lsp.buffers import Text
from pipeline.front.lsp.verifying import COMMAND
from pipeline.front.run.verification import NOT_YET
from pipeline.reports.editor.rebuilt import Cost

_NAMED = 4  # units that a lens lists
_LONGEST = 100  # characters of what was found
_RUNNING = "verifying …"


def lenses(costs: list[Cost], text: Text, encoding: str) -> list[types.CodeLens]:
    """The lenses of a file's entries."""
    return [
        types.CodeLens(text.range(cost.line - 1, 0, 0, encoding), types.Command(title, ""))
        for cost in costs
        if (title := _title(cost))
    ]


def _title(cost: Cost) -> str:
    """The text for an entry; "" if no unit depends on it."""
    if cost.rebuilt is None:
        return f"{counted(cost.units, 'unit')} made from it" if cost.units else ""
    if not cost.rebuilt:
        return "edited: rebuilds no unit"
    some = ", ".join(cost.rebuilt[:_NAMED]) + (", …" if len(cost.rebuilt) > _NAMED else "")
    return f"edited: rebuilds {counted(len(cost.rebuilt), 'unit')}: {some}"


def verification_lenses(
    costs: list[Cost], states: Mapping[str, str], running: Collection[str], text: Text, uri: str, encoding: str
) -> list[types.CodeLens]:
    """A lens above each definition with what earlier verifications found, whose command verifies it. `states`: by
    entry; `running`: the entries that are being verified."""
    titles = {cost.entry: states.get(cost.entry, NOT_YET) for cost in costs} | dict.fromkeys(running, _RUNNING)
    return [
        types.CodeLens(
            text.range(cost.line - 1, 0, 0, encoding),
            types.Command(_shortened(titles[cost.entry]), COMMAND, arguments=[uri, cost.entry]),
        )
        for cost in costs
    ]


def _shortened(state: str) -> str:
    if state == NOT_YET:
        return "verify"
    return state if len(state) <= _LONGEST else f"{state[: _LONGEST - 2]} …"
