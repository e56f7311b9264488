"""gradmill's own code is an input: what runs was read after the process started, whatever changes meanwhile."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from project import Project, Run, elsewhere, finish, with_end

from gradmill.io.files import Stat, read_with_stat
from gradmill.session.own_code import CodeChanged, OwnCode

pytestmark = pytest.mark.slow  # each has its own copy of gradmill


def test_code_that_changes_while_it_is_read_ends_the_run(own_code: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradmill.session.own_code.PACKAGE", str(own_code.root / "pipeline" / "gradmill"))
    monkeypatch.setattr("gradmill.session.own_code.STARTED", time.time_ns())

    def read_late(path: str) -> tuple[bytes | None, Stat | None]:
        read = read_with_stat(path)
        (own_code.root / "pipeline" / "gradmill" / "stages" / "shard.py").touch()
        return read

    monkeypatch.setattr("gradmill.session.own_code.read_with_stat", read_late)
    with pytest.raises(CodeChanged):
        OwnCode().take({})


CHANGES: dict[str, Callable[[Path], object]] = {
    "edited": lambda package: (package / "stages" / "shard.py").touch(),
    "added": lambda package: (package / "families" / "nodes" / "more.cpp").touch(),
    "deleted": lambda package: (package / "stages" / "shard.py").unlink(),
}


@pytest.mark.parametrize("change", ["", *CHANGES])
def test_code_is_only_read_again_if_it_is_not_as_the_last_run_noted(
    own_code: Project, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    package = own_code.root / "pipeline" / "gradmill"
    monkeypatch.setattr("gradmill.session.own_code.PACKAGE", str(package))
    monkeypatch.setattr("gradmill.session.own_code.STARTED", time.time_ns() + 10**10)
    first, again, read = OwnCode(), OwnCode(), list[str]()
    first.take({})
    known = first.evidence()
    if change:
        CHANGES[change](package)
    monkeypatch.setattr(
        "gradmill.session.own_code.read_with_stat", lambda path: read.append(path) or read_with_stat(path)
    )
    again.take(known, first.note)
    assert bool(read) == bool(change)
    assert (again.digest == first.digest) == (change in ("", "edited"))
    if not change:
        assert (again.stats, again.paths(), again.note) == (first.stats, first.paths(), first.note)


def test_the_note_of_another_python_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradmill.session.own_code.STARTED", time.time_ns() + 10**10)
    first = OwnCode()
    first.take({})
    note = first.note
    monkeypatch.setattr("gradmill.session.own_code.sys.version_info", (3, 99, 0))
    again = OwnCode()
    again.take(first.evidence(), note)
    assert again.digest != first.digest


def _start_gradmill(project: Project, *words: str) -> subprocess.Popen[str]:
    return elsewhere("-m", "gradmill", *words, *project.words, cwd=project.folder, root=project.root)


def _gradmill(project: Project) -> Run:
    return finish(_start_gradmill(project))


def test_two_gradmills_on_one_cache_make_their_own_files(own_code: Project) -> None:
    """An update in a new environment, two checkouts: neither takes the last run of the other for its own."""
    other = copy.copy(own_code)
    other.root = own_code.folder / "other"
    shutil.copytree(own_code.root, other.root)
    path = other.root / "pipeline" / "gradmill" / "stages" / "shard.py"
    path.write_text(with_end(path.read_text(), "// the other"))
    time.sleep(0.05)
    for _ in range(2):
        assert _gradmill(own_code).status == 0
        assert not any(data.endswith(b"// the other\n") for data in own_code.files().values())
        assert _gradmill(other).status == 0
        assert all(data.endswith(b"// the other\n") for data in own_code.files().values())
    assert _gradmill(other).ran == []


def test_a_store_under_the_name_of_other_code_is_discarded(own_code: Project) -> None:
    """The name of a store is a part of the digest of the code, and anybody can rename a file."""
    assert _gradmill(own_code).status == 0
    former = own_code.rows
    path = own_code.root / "pipeline" / "gradmill" / "families" / "nodes" / "node.cpp"
    path.write_text(path.read_text().replace("name() const override", "name() const  override"))
    time.sleep(0.05)
    assert _gradmill(own_code).status == 0
    files = own_code.files()
    assert own_code.rows != former and b"name() const  override" in files["Functions.h"]
    shutil.copy(former, own_code.rows)
    for last in own_code.rows.parent.glob("last-*"):
        last.unlink()
    run = _gradmill(own_code)
    assert "made by another gradmill" in run.stderr
    assert own_code.files() == files


def test_bytecode_of_an_older_text_is_not_taken_for_that_of_the_new_one(own_code: Project) -> None:
    """Python takes bytecode for a text's own when size and second agree."""
    path = own_code.root / "pipeline" / "gradmill" / "stages" / "shard.py"
    text = path.read_text()
    second = time.time() // 1

    def write(mark: str) -> None:
        path.write_text(with_end(text, f"// {mark}"))
        os.utime(path, (second, second))
        time.sleep(0.05)

    write("one")
    assert _gradmill(own_code).status == 0
    assert Path(cache_from_source(str(path))).exists()
    assert all(data.endswith(b"// one\n") for data in own_code.files().values())
    for mark in ("two", "one", "six"):
        write(mark)
        run = _gradmill(own_code)
        if run.status:
            assert run.stderr == "gradmill's own code changed while it ran: run again\n"
            assert _gradmill(own_code).status == 0
        assert all(data.endswith(f"// {mark}\n".encode()) for data in own_code.files().values())


def test_a_run_under_code_that_changes_while_it_starts_ends_in_one_line(own_code: Project) -> None:
    assert _gradmill(own_code).status == 0
    process = _start_gradmill(own_code)
    while process.poll() is None:
        (own_code.root / "pipeline" / "gradmill" / "stages" / "shard.py").touch()
        time.sleep(0.002)
    run = finish(process)
    assert run.status != 0
    assert run.stderr == "gradmill's own code changed while it ran: run again\n"
    time.sleep(0.05)
    assert _gradmill(own_code).ran == []


# As a module is looked for, another text takes the place of a file; as another one is, the file's own text does.
_EDITS = """
import os, sys
EDITED, TEXTS, WHEN = {edited!r}, {texts!r}, {when!r}

class Edits:
    def find_spec(self, name, path=None, target=None):
        if name in WHEN:
            with open(EDITED + ".new", "w") as file:
                file.write(TEXTS[WHEN.index(name)])
            os.replace(EDITED + ".new", EDITED)

sys.meta_path.insert(0, Edits())
"""


_PRINTING, _PRINTED, _REPORTING = (
    "gradmill.families.nodes.text",
    "gradmill.families.nodes.plan",  # which that imports
    "gradmill.problems.color",  # for a report, after the files
)


@pytest.mark.slow(2)
@pytest.mark.parametrize(
    ("words", "when"),
    [
        (("run",), [_PRINTING]),
        (("run",), [_PRINTING, _PRINTED]),
        (("run",), ["gradmill.stages.manifest"]),
        (("check",), [_PRINTING]),
        (("explain",), [_PRINTING]),
    ],
    ids=str,
)
def test_code_that_changes_before_it_is_loaded_makes_no_file(
    own_code: Project, words: tuple[str, ...], when: list[str]
) -> None:
    """What prints Nodes is loaded when one is printed: by then its text may be another one than the run began with."""
    run = _edited_when(own_code, when, words)
    assert run.status != 0
    assert run.stderr.endswith("gradmill's own code changed while it ran: run again\n")
    assert "Traceback" not in run.stderr
    assert own_code.files() == {}
    time.sleep(0.05)
    assert _gradmill(own_code).status == 0
    assert _is_edited(own_code) == (len(when) == 1)


def test_code_that_changes_after_it_was_loaded_is_the_next_runs_business(own_code: Project) -> None:
    own_code.set_formula("exp", "self", "grad * reslt")  # a warning
    assert _edited_when(own_code, [_REPORTING], ("run",)).status == 0
    assert not _is_edited(own_code)
    time.sleep(0.05)
    assert "python_functions_0.cpp" in _gradmill(own_code).shards
    assert _is_edited(own_code)


def _is_edited(project: Project) -> bool:
    return any(b"// as edited" in data for data in project.files().values())


def _edited_when(own_code: Project, when: list[str], words: tuple[str, ...]) -> Run:
    """A run in which the text that prints Nodes changes when a module is looked for, and back when another one is."""
    path = own_code.root / "pipeline" / "gradmill" / "families" / "nodes" / "python.cpp"
    own, sign = path.read_text(), "${node}_properties);"
    assert own.count(sign) == 1
    texts = [own.replace(sign, f"{sign} // as edited"), own]
    hook = own_code.root / "pipeline" / "sitecustomize.py"
    hook.write_text(_EDITS.format(edited=str(path), texts=texts, when=when))
    run = finish(_start_gradmill(own_code, *words))
    assert path.read_text() == texts[len(when) - 1]
    hook.unlink()
    return run
