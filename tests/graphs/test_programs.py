"""Random programs: their graphs match eager. Each run generates other programs.

The seed is the test run's, shown in pytest's header and in the message of a failure: `GRADMILL_PROGRAMS=N` generates
the same programs again. `GRADMILL_PARTS=8` generates 520 of them instead of a sample.
`python -m tests.graphs.random_programs` generates any number of them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cpp import toolchain
from never_wrong import seed

from graphs import programs
from graphs.documented import REFUSED
from graphs.random_programs import AT_ONCE, wrong
from pipeline.graphs.functional import storage

SEED = int(os.environ.get("GRADMILL_PROGRAMS") or seed.SEED)
PARTS = int(os.environ.get("GRADMILL_PARTS", "2"))


@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
@pytest.mark.alternates(8, 20)
@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_match_eager(part: int, tmp_path: Path) -> None:
    written = programs.programs(SEED + part, AT_ONCE)
    assert list(wrong(written, tmp_path, f"many{part}")) == [], f"GRADMILL_PROGRAMS={SEED}, part {part}"


def test_the_errors_that_only_graphs_may_have_are_errors_of_graphs() -> None:
    """A message with another wording would be a difference; a removed one excuses nothing."""
    graphs, torchs = set(map(str, vars(storage).values())), ("unsupported operation: ", "too many indices ")
    assert [message for message in REFUSED if message not in graphs and not message.startswith(torchs)] == []
