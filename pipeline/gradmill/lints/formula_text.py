"""The text of a formula, and errors at places in it."""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.expression import Node
from gradmill.problems.problem import SpecError

_NEEDLE = 200  # characters from a place on: enough to identify it


class FormulaText(Struct, frozen=True):
    """The text of a formula."""

    whole: str

    def of(self, node: Node) -> str:
        """The text of a node."""
        return self.whole[node.start : node.end]

    def error(self, start: int, problem: str, hint: str, rule: str, fix: tuple[str, str] | None = None) -> SpecError:
        """An error at a place."""
        return SpecError(problem, hint, needle=self.whole[start : start + _NEEDLE], rule=rule, fix=fix)
