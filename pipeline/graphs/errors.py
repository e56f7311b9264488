"""The error for source that a graph does not support, with its place in the file of functions."""

from __future__ import annotations

from pipeline.graphs.model import Place
from pipeline.problems.problem import SpecError


class GraphError(SpecError):
    """A construct of a function that a graph does not support. `others` are further errors of the same function."""

    def __init__(self, place: Place, problem: str, hint: str = "") -> None:
        super().__init__(problem, hint)
        self.place = place
