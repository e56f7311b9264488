"""An editor, `watch` and runs of doit at once on one set: all end right, and none reports what is not so."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from project import Project, Run, finish
from watching import Watching

EDITS = 100
FORMULAS = [f"grad * result.conj() * {number}" for number in range(2, 6)]
WAITING = "waiting for another run, which has locked "
SECONDS = 60


@pytest.mark.extension("browse")
@pytest.mark.asyncio
@pytest.mark.parametrize("count", [2, pytest.param(EDITS, marks=pytest.mark.campaign)])
async def test_an_editor_a_watch_and_runs_of_doit_get_along(tiny: Project, tmp_path: Path, count: int) -> None:
    from browse.editor import DERIVATIVES, Editor

    expected = {}
    for formula in FORMULAS:
        tiny.set_formula("exp", "self", formula)
        expected[formula] = tiny.clean_build()
    watching, before = Watching(tiny), FORMULAS[-1]
    try:
        watching.wait_for("Ctrl-C ends")
        async with Editor.editing(tiny, DERIVATIVES) as editor:
            path = tiny.path(DERIVATIVES)
            for number in range(count):
                formula = FORMULAS[number % len(FORMULAS)]
                assert await editor.edit(path, f"  self: {before}\n", f"  self: {formula}\n") == []
                saved = tmp_path / "saved"  # at once, as editors do: a file that is being written may be read empty
                saved.write_bytes(editor.texts[path.as_uri()].encode())
                saved.replace(path)
                process = tiny.start()
                run = await asyncio.to_thread(finish, process)
                _assert_right(run)
                await asyncio.to_thread(_wait_for, tiny, expected[formula])
                before = formula
    finally:
        assert watching.stop() == 0
    printed = watching.rest().splitlines()
    assert [line for line in printed if " ms: " not in line and not line.startswith(WAITING)] == []
    assert tiny.run().status == 0
    assert tiny.run().ran == []
    assert tiny.files() == expected[before]


def _assert_right(run: Run) -> None:
    assert run.status == 0, run.stderr
    assert [line for line in run.stderr.splitlines() if not line.startswith(WAITING)] == []


def _wait_for(project: Project, expected: dict[str, bytes]) -> None:
    """Until the files are right: the other process may be at work."""
    end = time.monotonic() + SECONDS
    while project.files() != expected:
        assert time.monotonic() < end
        time.sleep(0.02)
