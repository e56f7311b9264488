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


@pytest.mark.alternates(8, 30)
@pytest.mark.parametrize(("path", "specs"), [(SUITE, "core"), (SUITE, "torch"), (REAL, "torch")])
def test_all_graphs_match_eager(path: Path, specs: str, tmp_path: Path) -> None:
    assert_all_match(path, tmp_path, f"{path.name}_{path.parent.name}_{specs}", specs)


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
