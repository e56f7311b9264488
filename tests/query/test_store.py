"""Damage: whatever is not as a store left it is discarded as a whole, and never extended."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.query.toy import Toy, total

TEXT = b"a: one\nb: three\nc: =a\n"
MANY = b"".join(b"w%d: x\n" % n for n in range(2000))  # enough for all parts of what is known of readers


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    toy = Toy(tmp_path)
    toy.inputs |= {"x": TEXT, "y": MANY}
    toy.run((total, "x"), (total, "y"))
    return toy


def damage_readers(path: Path) -> None:
    """Alters, where it is in the file, what a store says of who reads whom."""
    with closing(sqlite3.connect(path)) as connection:
        blobs = [blob for (blob,) in connection.execute("SELECT data FROM pairs") if len(blob) > 8]
    data, begins = path.read_bytes(), 24  # bytes: what is long is in several places
    assert blobs and all(data.count(blob[:begins]) == 1 for blob in blobs)
    for blob in blobs:
        data = data.replace(blob[:begins], blob[: begins - 1] + bytes([blob[begins - 1] ^ 1]))
    path.write_bytes(data)


def test_damaged_readers_do_not_become_valid_by_being_extended(toy: Toy) -> None:
    """Nobody asks for `y` in the round that meets the damage: the edit after that still reaches it."""
    toy.inputs["z"] = MANY
    db = toy.begin()
    damage_readers(toy.path)
    assert total(db, "z") == 2000
    db.commit()
    toy.inputs["y"] = b"a: eleven\n"
    assert toy.run((total, "y"))[0] == [6]
