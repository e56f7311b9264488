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
# Owners of these exist since 2.14 only, which is later than the installed release.
_COPIED = ("at::Tensor", "::std::optional<at::Tensor>")


def _ours(scope: list[Goal], goal: Goal, *, owned: bool, method: bool) -> str | None:
    values = [Value(_meaning(name), type_, f"v{i}") for i, (name, type_) in enumerate(scope)]
    try:
        (found,) = translate(values, [(_meaning(goal[0]), goal[1])], owned=owned, method=method)
    except SpecError:
        return None
    return found


def _is_copied(type_: str) -> bool:
    return type_.removeprefix("const ").removesuffix(" &") in _COPIED


def _meaning(name: str) -> str:
    return REDUNDANT_MEMORY_FORMAT if name == "redundant" else name


def test_each_conversion_is_torchgens() -> None:
    done = subprocess.run([sys.executable, _ORACLE], capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)
    wrong = [
        (scope, goal, owned, method, expected)
        for scope, goal, owned, method, expected in rows
        if not (owned and _is_copied(goal[1]))
        and _ours(scope, (goal[0], goal[1]), owned=owned, method=method) != expected
    ]
    assert wrong == []
    assert sum(row[-1] is not None for row in rows) > 300
