"""A store of which parts are older than the rest, or missing, each with a right checksum: no file is made from it.

Rows that only the sum of all checksums tells apart gave wrong files, with status 0, in most of these trials without it.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from project import Project, assert_clean

from gradmill.session import record
from gradmill.session.session import Progress, Session
from gradmill.store.sqlite import _PAGE as PAGE
from gradmill.store.sqlite import SqliteStore
from never_wrong.builds import Kept, clean_build

FORMULAS = [f"grad * result.conj() * {number}" for number in range(2, 6)]

Attack = Callable[[Path, Path, Random], object]  # on a store, of which an older state is there


def older_rows(store: Path, older: Path, chance: Random) -> None:
    """Some entries are as they were, with their checksums."""
    with closing(sqlite3.connect(older)) as connection:
        rows = connection.execute("SELECT * FROM calls").fetchall()
    with closing(sqlite3.connect(store)) as connection, connection:
        some = chance.sample(rows, chance.randrange(1, len(rows)))
        connection.executemany("INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?)", some)


def reverted_pages(store: Path, older: Path, chance: Random) -> None:
    """Some pages of the file are as they were."""
    before, data = older.read_bytes(), bytearray(store.read_bytes())
    pages = [at for at in range(0, min(len(before), len(data)), PAGE) if before[at : at + PAGE] != data[at : at + PAGE]]
    for at in chance.sample(pages, chance.randrange(1, max(len(pages) // 2, 2))):
        data[at : at + PAGE] = before[at : at + PAGE]
    store.write_bytes(data)


@pytest.mark.parametrize(("attack", "trials"), [(older_rows, 8), (reverted_pages, 12)])
def test_no_file_is_made_from_a_store_that_was_tampered_with(tiny: Project, attack: Attack, trials: int) -> None:
    chance, older = Random(trials), tiny.folder / "older"
    for number in range(trials):
        before, after, last = (*chance.sample(FORMULAS, 2), chance.choice(FORMULAS))
        tiny.set_formula("exp", "self", before)
        tiny.build()
        shutil.copy(tiny.rows, older)
        tiny.set_formula("exp", "self", after)
        tiny.build()
        attack(tiny.rows, older, chance)
        tiny.set_formula("exp", "self", last)
        run = tiny.run().ok()
        assert "Traceback" not in run.stderr
        assert tiny.files() == tiny.clean_build(), number


def test_damage_in_mid_run_begins_with_the_first_file_again(
    tiny: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read before may have been wrong, too."""
    folder, older = tmp_path / "kept", tmp_path / "older"
    kept = Kept(tiny.specs, folder)
    kept.update()
    (store,) = (folder / "cache" / tiny.specs.name).glob("rows-*[0-9a-f]")
    shutil.copy(store, older)
    for text in FORMULAS[:2]:
        tiny.set_formula("exp", "self", text)
        kept.update()
    kept.reopen()
    names: list[str] = []
    update_file = Session._update_file

    def damaged(session: Session, name: str, progress: Progress, *, write: bool) -> Collection[str]:
        names.append(name)
        if len(names) == 3:
            store.write_bytes(older.read_bytes())
        return update_file(session, name, progress, write=write)

    tiny.set_formula("exp", "self", FORMULAS[2])
    monkeypatch.setattr(Session, "_update_file", damaged)
    assert kept.update() == clean_build(tiny.specs, tmp_path / "clean")
    assert names.count(names[0]) == 3  # this run, and that of the clean build
    kept.close()


@pytest.mark.parametrize("where", ["store", "record"])
def test_a_run_that_is_killed_between_a_write_and_its_record_loses_nothing(
    tiny: Project, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def killed(*_: object) -> object:
        return os.kill(os.getpid(), signal.SIGKILL)

    tiny.set_formula("exp", "self", FORMULAS[0])
    with monkeypatch.context() as patch:
        if where == "store":  # what is committed is in SQLite's log
            patch.setattr(SqliteStore, "_finish", killed)
        else:
            patch.setattr(record, "save", killed)
        assert tiny.run_patched().status == -signal.SIGKILL
    run = tiny.run()
    assert (run.status, run.stderr, run.units) == (0, "", [])
    assert_clean(tiny)
    assert tiny.run().ran == []


def test_two_configurations_share_a_store(tiny: Project) -> None:
    """Each run notes the store as it leaves it; the next one, of the other configuration, takes it as it is."""
    for number in range(6):
        tiny.set_formula("exp", "self", FORMULAS[number % 3])
        for words in ({"families": "nodes"}, {}):
            store = tiny.rows.stat().st_ino
            run = tiny.run(**words).clean()
            assert tiny.files() == tiny.clean_build(**words)
            assert tiny.run(**words).ran == []
            assert tiny.rows.stat().st_ino == store
            assert number < 3 or run.units == []  # past results
