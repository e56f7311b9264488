"""Random programs: their graphs match eager. `python -m tests.campaigns programs` generates others."""

from __future__ import annotations

from pathlib import Path

import pytest
from cpp import toolchain

from gradmill.extensions.graphs.passes.functionalize import storage
from graphs import programs
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
