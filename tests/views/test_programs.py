"""Random programs of views and in-place operators: what torch's make of them is what ours do."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from views.operators import Ops, torch_ops
from views.outcomes import Difference, Outcome, differences, outcome
from views.programs import Program, draw

# An assertion of torch's CopySlices fails where ours answers: docs/contributing/views.md, "Differences from torch".
ASSERTION = "it->second.should_execute() == task_should_compute_output(0) INTERNAL ASSERT FAILED"


def test_random_programs_give_the_same(core_views: Ops) -> None:
    assert_same(core_views, range(60))


@pytest.mark.slow
def test_a_thousand_random_programs_give_the_same(core_views: Ops) -> None:
    seen = assert_same(core_views, range(1000, 2000))
    for kind in ("CopySlices", "CopyBackwards", "replayed", "refused", "twice", "hooks", "backward"):
        assert seen[kind] > 40, seen


def assert_same(ops: Ops, numbers: range) -> Counter[str]:
    """Runs programs with both sets of operators. Gives how many had what."""
    seen: Counter[str] = Counter()
    for number in numbers:
        program, wanted = _answered(draw(random.Random(number)))
        left = differences(outcome(program, ops), wanted)
        assert not left, f"program {number}:\n{_text(program, left)}"
        seen.update(_traits(program, wanted))
    return seen


def _answered(program: Program) -> tuple[Program, Outcome]:
    """A program without what torch asserts at, and what torch makes of it.

    An answer of ours in the place of an assertion would leave its traces, in retained gradients and with hooks.
    """
    wanted = outcome(program, torch_ops())
    asks = tuple(ask for number, ask in enumerate(program.asks) if ASSERTION not in str(wanted[f"ask {number}"]))
    if asks == program.asks:
        return program, wanted
    return _answered(program._replace(asks=asks))


def _traits(program: Program, wanted: Outcome) -> set[str]:
    traits = {
        "replayed": program.replay,
        "refused": any(isinstance(wanted[f"step {number}"], str) for number, _ in enumerate(program.steps)),
        "twice": any(ask.twice for ask in program.asks),
        "hooks": bool(wanted["hooks"]),
        "backward": not isinstance(wanted["backward"], str),
    }
    names = {name for name, _ in wanted["graph"]} & {"CopySlices", "CopyBackwards"}
    return {"programs", *names, *(name for name, holds in traits.items() if holds)}


def _text(program: Program, left: list[Difference]) -> str:
    lines = [f"  {number:2} {step}" for number, step in enumerate(program.steps)]
    lines += [f"  {ask}" for ask in program.asks]
    return "\n".join([*lines, *(f"{one.place}:\n  ours   {one.found}\n  torchs {one.wanted}" for one in left[:6])])
