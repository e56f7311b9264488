"""The core set's graphs do what the same functions do in eager mode: one file of functions for each case."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from cpp import toolchain
from project import ROOT

from graphs import compare, library
from graphs.samples import samples

pytestmark = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())

SUITE = ROOT / "specs" / "core" / "graphs"
REAL = ROOT / "tests" / "graphs" / "real"  # of what the core set does not have
FILES = sorted(path.stem for path in SUITE.glob("*.py"))
ALWAYS = ("together",)  # the others take too long for every run
CASES = [pytest.param(stem, marks=() if stem in ALWAYS else pytest.mark.slow) for stem in FILES]


def wrong(functions: dict[str, Any], ops: Any) -> Iterator[str]:
    """The functions that do something else as graphs, each with what."""
    for name, function in functions.items():
        for make in samples(function):
            for which in compare.choices(len(compare.tensors(make()))):
                for what in compare.differences(function, getattr(ops, name), make, which)[:1]:
                    yield f"{name} {which}: {what}"


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The suite's graphs, by file, as they are compiled."""
    return {"folder": tmp_path_factory.mktemp("eager")}


@pytest.mark.parametrize("stem", CASES)
def test_a_graph_does_what_eager_does(stem: str, ops: dict[str, Any]) -> None:
    path = SUITE / f"{stem}.py"
    found = library.build(path, Path(ops["folder"]) / stem, f"core_{stem}")
    assert list(wrong(library.functions(path), found)) == []


@pytest.mark.slow
@pytest.mark.parametrize("stem", FILES)
def test_a_graph_of_the_real_specs_does_what_eager_does(stem: str, ops: dict[str, Any]) -> None:
    path = SUITE / f"{stem}.py"
    found = library.build(path, Path(ops["folder"]) / f"torch_{stem}", f"torch_{stem}", specs="torch")
    assert list(wrong(library.functions(path), found)) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in sorted(REAL.glob("*.py"))])
def test_a_graph_of_what_only_the_real_specs_have_does_what_eager_does(path: Path, ops: dict[str, Any]) -> None:
    found = library.build(path, Path(ops["folder"]) / path.stem, f"real_{path.stem}", specs="torch")
    assert list(wrong(library.functions(path), found)) == []


def test_what_differs_is_told() -> None:
    """The comparison itself finds what is wrong."""

    def make() -> list[Any]:
        return [torch.ones(2, 3, dtype=torch.float64)]

    def told(one: Any, other: Any, which: str = "inner") -> list[str]:
        return compare.differences(one, other, make, (which,))

    assert told(lambda x: x * 2, lambda x: x * 2) == []
    assert told(lambda x: x * 2, lambda x: x * 3)
    assert told(lambda x: x * 2, lambda x: x.detach() * 2)
    assert told(lambda x: x[0], lambda x: x[0].clone())
    assert told(lambda x: x.mul_(2), lambda x: x * 2)
    assert told(lambda x: x, lambda x: x.view(2, 3))
    assert told(lambda x: x.t_(), lambda x: x.t())
    assert told(lambda x: x.mul_(2), lambda x: x.mul(2), "leaf")
    assert told(lambda x: x**2, lambda x: x.detach() * x)
