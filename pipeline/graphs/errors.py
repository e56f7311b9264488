"""What a graph cannot have, with its place in the file of functions."""

from __future__ import annotations

from pipeline.graphs.model import Place
from pipeline.problems.problem import SpecError


class GraphError(SpecError):
    """Something that a function says and no graph can have, or not yet. `others` are more of the kind."""

    def __init__(self, place: Place, problem: str, hint: str = "") -> None:
        super().__init__(problem, hint)
        self.place = place
