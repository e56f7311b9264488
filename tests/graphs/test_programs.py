"""Random programs: their graphs match eager. `python -m tests.campaigns programs` generates others."""

from __future__ import annotations

import venv
from pathlib import Path

import pytest
from cpp import toolchain
from project import ROOT

from gradmill.extensions.graphs.passes.functionalize import storage
from graphs import programs, releases
from graphs.documented import REFUSED
from graphs.random_programs import AT_ONCE, wrong


@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
@pytest.mark.slow(20)
@pytest.mark.parametrize("part", range(2))
def test_random_programs_match_eager(part: int, tmp_path: Path) -> None:
    written = programs.programs(part, AT_ONCE)
    assert list(wrong(written, tmp_path, f"many{part}")) == []


def test_the_errors_that_only_graphs_may_have_are_errors_of_graphs() -> None:
    """A message with another wording would be a difference; a removed one excuses nothing."""
    graphs, torchs = set(map(str, vars(storage).values())), ("unsupported operation: ", "too many indices ")
    assert [message for message in REFUSED if message not in graphs and not message.startswith(torchs)] == []


def test_the_environment_of_a_release_finds_gradmill_in_this_folder(tmp_path: Path) -> None:
    venv.create(tmp_path)
    program = tmp_path / "program"  # in place of a Python that runs the tests
    program.write_text(f"#!/bin/sh\nexec {tmp_path}/bin/python -c 'import gradmill; print(gradmill.__file__)'\n")
    program.chmod(0o755)
    assert str(ROOT / "pipeline" / "gradmill" / "__init__.py") in releases.check(program, 1, tmp_path).output
