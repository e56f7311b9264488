"""A hundred programs with the kinds of effects that PyTorch's tests of AOTAutograd have: graphs match eager.

Each is run without gradients, with leaves, with inputs that are results, and with each subset of these that
`compare.choices` names; inputs that may share memory do, partly do, do not, or are one tensor.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from cpp import toolchain

from graphs import compare, library
from graphs.samples import SHAPE, tensor
from graphs.samples import samples as by_name

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())]

PROGRAMS = Path(__file__).with_name("dispatch")
COUNT = 102


def samples(function: Callable[..., Any]) -> list[compare.Make]:
    """The arguments of a program: by its annotations; each pair of inputs that may share memory also does."""
    names = [each.annotation for each in inspect.signature(function).parameters.values()]
    groups = [str(getattr(each, "__metadata__", "")) for each in names]
    makes = [by_name(function)[0]] if not any(groups) else [lambda: [tensor(*SHAPE) for _ in groups]]
    for i, j in combinations(range(len(groups)), 2):
        if groups[i] and groups[i] == groups[j]:
            makes += [
                lambda how=how, i=i, j=j: _sharing(len(groups), i, j, how) for how in ("same", "one", "overlapping")
            ]
    return makes


def _sharing(count: int, i: int, j: int, how: str) -> list[Any]:
    arguments: list[Any] = [tensor(*SHAPE) for _ in range(count)]
    base = tensor(SHAPE[0] + 1, SHAPE[1])
    if how == "same":
        arguments[i], arguments[j] = base[:-1], base[:-1]
    elif how == "one":
        arguments[j] = arguments[i]
    else:
        arguments[i], arguments[j] = base[:-1], base[1:]
    return arguments


@pytest.mark.alternates(4)
def test_programs_match_eager(tmp_path: Path) -> None:
    functions = {
        name: function for path in sorted(PROGRAMS.glob("*.py")) for name, function in library.functions(path).items()
    }
    assert len(functions) == COUNT
    ops = library.build(PROGRAMS, tmp_path, "dispatch", specs="torch")
    wrong = [
        f"{name} {which}: {what}"
        for name, function in functions.items()
        for make in samples(function)
        for which in compare.choices(len(compare.tensors(make())))
        for what in compare.differences(function, getattr(ops, name), make, which)[:1]
    ]
    assert wrong == []
