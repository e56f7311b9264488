"""What upstream accepts in a formula but is surely a mistake: names that mean nothing there."""

from __future__ import annotations

from pipeline.model.autograd import Info
from pipeline.model.native import NativeFunction
from pipeline.problems import SpecError


def suspicious(info: Info, function: NativeFunction) -> list[SpecError]:
    """The unknown identifiers in the formulas of `info`."""
    return []
