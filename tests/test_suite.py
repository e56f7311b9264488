"""Which tests run: the same ones every time, and what is named."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from project import ROOT

from tests.conftest import marks_that_run

FILE, ONE = "tests/problems/test_bad_specs.py", "tests/problems/test_bad_specs.py::test_the_base_is_right"


def config(words: list[str], keyword: str = "", marks: str = "") -> Any:
    """What pytest makes of a command line."""
    return SimpleNamespace(args=words, option=SimpleNamespace(keyword=keyword, markexpr=marks))


@pytest.mark.parametrize(
    ("words", "keyword", "marks", "expected"),
    [
        (["tests"], "", "", "not slow and not campaign"),
        (["tests/problems"], "", "", "not slow and not campaign"),
        (["tests"], "", "slow", "slow"),
        (["tests"], "exp", "slow", "slow"),
        (["tests"], "exp", "", "not campaign"),
        ([FILE], "", "", "not campaign"),
        (["tests/graphs", FILE], "", "", "not campaign"),
        ([ONE], "", "", ""),
    ],
)
def test_what_is_named_runs(
    words: list[str], keyword: str, marks: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("UPDATE_GOLDEN", raising=False)
    assert marks_that_run(config(words, keyword, marks)) == expected


def test_expectations_are_rewritten_as_whole_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("UPDATE_GOLDEN", "1")
    for words in (["tests"], ["tests/problems"], [FILE]):
        assert marks_that_run(config(words)) == "golden"
    for part in (config([FILE], "exp"), config([FILE], marks="slow"), config([ONE])):
        with pytest.raises(pytest.UsageError, match="whole files"):
            marks_that_run(part)


def test_each_test_that_writes_an_expectation_is_marked() -> None:
    files = {path.name for path in (ROOT / "tests").rglob("test_*.py") if "    if UPDATE" in path.read_text()}
    marked = {path.name for path in (ROOT / "tests").rglob("test_*.py") if "@pytest.mark.golden" in path.read_text()}
    assert files - {"test_suite.py"} <= marked
