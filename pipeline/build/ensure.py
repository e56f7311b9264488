"""Steps brought up to date without doit: for commands that look at artifacts."""

from __future__ import annotations

from pipeline.build.engine import Build
from pipeline.build.step import Outcome, Step
from pipeline.graph import ANALYSIS


def ensure(build: Build, step: Step) -> Outcome:
    """The outcome of `step`, run if need be. Its state is left to doit to record."""
    resolved = step.resolve(build)
    if not build.is_current(step, resolved, build.state.get(step.name, "_values_:") or {}):
        build.execute(step, step.ready(build, resolved))
    return build.outcome(step.name)


def ensure_analysis(build: Build, upto: str = "match") -> None:
    """Brings the stages up to date, in their order, as far as `upto`."""
    for step in ANALYSIS:
        ensure(build, step)
        if step.name == upto:
            return
