"""The walk of an edit: what a run passes for one formula, and what it passes by."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import forked
import pytest
from project import Project

from gradmill.problems.problem import SpecError
from gradmill.session.record import Lock
from gradmill.session.session import Session
from gradmill.session.settings.config import read_config

PROGRAM = """
import json, os, sys
from gradmill.cli.start import command
package = os.path.dirname(sys.modules["gradmill"].__file__) + os.sep
called = set()
def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(package):
        called.add(code.co_filename.removeprefix(package))
def end(status):
    sys.setprofile(None)
    print(json.dumps([status, sorted(called)]), file=sys.stderr, flush=True)
    leave(status)
leave, os._exit = os._exit, end
sys.setprofile(note)
command.run()
"""


def entered(project: Project) -> set[str]:
    """The modules of session, cli and builds in which a run calls a function."""
    words = [sys.executable, "-c", PROGRAM, *project.words]
    done = subprocess.run(words, cwd=project.folder, check=False, capture_output=True, text=True)
    status, names = json.loads(done.stderr)
    assert status == 0
    return {name for name in names if name.startswith(("session/", "cli/", "builds/"))}


def test_an_edit_of_a_formula_enters_18_modules_and_looks_at_no_place_that_is_as_it_was_left(built: Project) -> None:
    for _ in range(2):
        built.gradmill().clean()
    built.set_formula("exp", "self", "grad * result.conj() * 2")
    modules = entered(built)
    assert len(modules) <= 18, sorted(modules)
    assert modules.isdisjoint({"session/places.py", "cli/commands/table.py", "cli/commands/command_line.py"})
    assert built.files() == built.clean_build()
    (built.generated / "Functions.h").write_text("edited")
    built.set_formula("exp", "self", "grad * result.conj() * 3")
    assert "session/places.py" in entered(built)
    assert built.files() == built.clean_build()


def test_a_run_that_waited_looks_again_whose_the_folders_are(
    tiny: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one may be the first run of a set with the same name."""
    name, place = tiny.specs.name, tmp_path / "apart"
    values = {"specs": str(tiny.specs), "generated": str(place / "generated"), "cache": str(place / "cache")}
    other = {**values, "specs": str(shutil.copytree(tiny.specs, place / "other" / name))}
    forked.gradmill([f"{each}={value}" for each, value in other.items()], place).ok()
    owner, aside = place / "cache" / name / "set", place / "aside"
    owner.rename(aside)
    shutil.rmtree(place / "generated")
    session = Session(read_config(values), writes=True)

    def waited(lock: Lock, warn: object) -> bool:
        aside.rename(owner)
        return True

    monkeypatch.setattr(Lock, "take", waited)
    with pytest.raises(SpecError, match="belongs to another spec set"):
        session.begin()


def test_an_input_in_the_place_of_the_manifest_is_seen_where_files_are_as_they_were_left(tiny: Project) -> None:
    tiny.run().ok()
    tiny.set_formula("exp", "self", "grad * result.conj() * 2")
    manifest, template = tiny.cache / tiny.specs.name / "manifest.json", tiny.path("templates/Functions.h")
    text = template.read_bytes()
    manifest.write_bytes(text)
    template.unlink()
    template.symlink_to(manifest)
    run = tiny.run()
    assert run.status != 0
    assert f"{manifest}: this is an input" in run.stderr
    assert manifest.read_bytes() == text
