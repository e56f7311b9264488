"""The core set's graphs match the same functions in eager mode: one file of functions for each case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from cpp import toolchain
from project import ROOT

from graphs import compare, library

pytestmark = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())

SUITE = ROOT / "specs" / "core" / "graphs"
REAL = ROOT / "tests" / "graphs" / "real"  # functions of operators that the core set does not have
FILES = sorted(path.stem for path in SUITE.glob("*.py"))


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The folder for compiled graphs."""
    return {"folder": tmp_path_factory.mktemp("eager")}


@pytest.mark.alternates(4)
@pytest.mark.slow
@pytest.mark.parametrize("stem", FILES)
def test_a_graph_matches_eager(stem: str, ops: dict[str, Any]) -> None:
    path = SUITE / f"{stem}.py"
    graphs = library.build(path, Path(ops["folder"]) / stem, f"core_{stem}")
    assert list(compare.wrong(library.functions(path), graphs)) == []


@pytest.mark.alternates(6)
@pytest.mark.slow
@pytest.mark.parametrize("stem", FILES)
def test_a_graph_of_the_real_specs_matches_eager(stem: str, ops: dict[str, Any]) -> None:
    path = SUITE / f"{stem}.py"
    graphs = library.build(path, Path(ops["folder"]) / f"torch_{stem}", f"torch_{stem}", specs="torch")
    assert list(compare.wrong(library.functions(path), graphs)) == []


@pytest.mark.alternates(6)
@pytest.mark.slow
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in sorted(REAL.glob("*.py"))])
def test_a_graph_of_operators_that_only_the_real_specs_have_matches_eager(path: Path, ops: dict[str, Any]) -> None:
    graphs = library.build(path, Path(ops["folder"]) / path.stem, f"real_{path.stem}", specs="torch")
    assert list(compare.wrong(library.functions(path), graphs)) == []


def test_the_comparison_reports_differences() -> None:
    """The comparison itself detects wrong graphs."""

    def make() -> list[Any]:
        return [torch.ones(2, 3, dtype=torch.float64)]

    def differing(one: Any, other: Any, which: str = "inner") -> list[str]:
        return compare.differences(one, other, make, (which,))

    assert differing(lambda x: x * 2, lambda x: x * 2) == []
    assert differing(lambda x: x * 2, lambda x: x * 3)
    assert differing(lambda x: x * 2, lambda x: x.detach() * 2)
    assert differing(lambda x: x[0], lambda x: x[0].clone())
    assert differing(lambda x: x.mul_(2), lambda x: x * 2)
    assert differing(lambda x: x, lambda x: x.view(2, 3))
    assert differing(lambda x: x.t_(), lambda x: x.t())
    assert differing(lambda x: x.mul_(2), lambda x: x.mul(2), "leaf")
    assert differing(lambda x: x**2, lambda x: x.detach() * x)
