"""Calls between C++ interfaces: each type of a value in scope, and each wanted type."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from gradmill.cpp.bindings import REDUNDANT_MEMORY_FORMAT
from gradmill.cpp.translate import Goal, Value, translate
from gradmill.problems.problem import SpecError

_ORACLE = Path(__file__).parent / "translate_oracle.py"


def _ours(scope: list[Goal], goal: Goal, *, method: bool) -> str | None:
    values = [Value(_meaning(name), type_, f"v{i}") for i, (name, type_) in enumerate(scope)]
    try:
        (found,) = translate(values, [(_meaning(goal[0]), goal[1])], method=method)
    except SpecError:
        return None
    return found


def _meaning(name: str) -> str:
    return REDUNDANT_MEMORY_FORMAT if name == "redundant" else name


def test_each_conversion_is_torchgens() -> None:
    done = subprocess.run([sys.executable, _ORACLE], capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)
    wrong = [
        (scope, goal, method, expected)
        for scope, goal, method, expected in rows
        if _ours(scope, (goal[0], goal[1]), method=method) != expected
    ]
    assert wrong == []
    assert sum(row[-1] is not None for row in rows) > 200
