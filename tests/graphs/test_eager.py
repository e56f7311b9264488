"""Graphs match the same functions in eager mode: those of the core set, and of operators that only torch has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from cpp import toolchain
from project import ROOT

from graphs import batched, compare, library

pytestmark = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())

SUITE = ROOT / "specs" / "core" / "graphs"
REAL = ROOT / "tests" / "graphs" / "real"  # functions of operators that the core set does not have


def assert_all_match(path: Path, folder: Path, namespace: str, specs: str) -> None:
    """All functions of a file or a folder, as one library."""
    graphs = library.build(path, folder, namespace, specs)
    files = sorted(path.glob("*.py")) if path.is_dir() else [path]
    functions = {file.stem: library.functions(file) for file in files}
    assert [f"{stem}: {each}" for stem, named in functions.items() for each in compare.wrong(named, graphs)] == []
    assert [f"{stem}: {each}" for stem, named in functions.items() for each in batched.wrong(named, graphs)] == []


@pytest.mark.slow(30)
@pytest.mark.parametrize(("path", "specs"), [(SUITE, "core"), (SUITE, "torch"), (REAL, "torch")])
def test_all_graphs_match_eager(path: Path, specs: str, tmp_path: Path) -> None:
    assert_all_match(path, tmp_path, f"{path.name}_{path.parent.name}_{specs}", specs)


class Two(torch.autograd.Function):
    """Twice its input, and three times, whose gradients a subclass changes."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> torch.Tensor | None:
        given = [grad * factor for grad, factor in zip(grads, (2, 3)) if grad is not None]
        return sum(given[1:], given[0])


class AloneWrong(Two):
    """Has another gradient where the second incoming one is undefined."""

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> torch.Tensor | None:
        return Two.backward(ctx, *grads) if grads[1] is not None else torch.ones(2, 3, dtype=torch.float64)


class Nothing(Two):
    """Has no gradient."""

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> torch.Tensor | None:
        return None


class Zeros(Two):
    """Has a gradient of zeros."""

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> torch.Tensor | None:
        return torch.zeros(2, 3, dtype=torch.float64)


def raises(error: Exception) -> Any:
    """A function that raises an error."""

    def function(x: torch.Tensor) -> torch.Tensor:
        raise error

    return function


def differing(one: Any, other: Any, which: str = "inner", layout: str = compare.AS_IT_IS) -> list[str]:
    """The differences that the comparison finds."""
    return compare.differences(one, other, lambda: [torch.ones(2, 3, dtype=torch.float64)], (which,), layout)


def test_the_comparison_is_strict() -> None:
    """About errors of another class, gradients that are missing or of one output alone, and inputs in other layouts."""
    assert differing(raises(IndexError("one")), raises(IndexError("two"))) == []
    assert differing(raises(IndexError("one")), raises(RuntimeError("one")))
    assert differing(raises(ZeroDivisionError("one")), raises(RuntimeError("one"))) == []
    assert differing(Two.apply, Two.apply) == []
    assert differing(Zeros.apply, Nothing.apply) and differing(Nothing.apply, Zeros.apply)
    assert [each.split(": ")[0] for each in differing(Two.apply, AloneWrong.apply)] == [
        "gradient of leaf 0 by tensor 1"
    ]
    for layout in set(compare.LAYOUTS) - {compare.AS_IT_IS, "single"}:
        assert differing(lambda x: x * 1 if x.is_contiguous() else x * 2, lambda x: x * 1, "plain", layout)
    assert differing(lambda x: x.double() * 1, lambda x: x * 1, layout="single")


def test_the_comparison_reports_differences() -> None:
    """The comparison itself detects wrong graphs."""

    assert differing(lambda x: x * 2, lambda x: x * 2) == []
    assert differing(lambda x: x * 2, lambda x: x * 3)
    assert differing(lambda x: x * 2, lambda x: x.detach() * 2)
    assert differing(lambda x: x[0], lambda x: x[0].clone())
    assert differing(lambda x: x.mul_(2), lambda x: x * 2)
    assert differing(lambda x: x, lambda x: x.view(2, 3))
    assert differing(lambda x: x.t_(), lambda x: x.t())
    assert differing(lambda x: x.mul_(2), lambda x: x.mul(2), "leaf")
    assert differing(lambda x: x**2, lambda x: x.detach() * x)
