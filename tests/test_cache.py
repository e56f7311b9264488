"""The parts of the cache on their own: journal, state, places of pieces, what killed runs leave."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from project import Project

from pipeline.build.journal import Journal, record_bytes, records
from pipeline.build.state import ALL_MADE, REMEMBERED, TEXTS, StateDB
from pipeline.families.file import File
from pipeline.families.template import lines_of
from pipeline.model.artifact import digest
from pipeline.releases import resolve
from pipeline.stages import shard

DUPLICATE = """
- name: exp(Tensor self) -> Tensor
  self: grad * result.conj() * {}
  result: auto_element_wise
"""


def _write_journal(path: Path, entries: list[tuple[bytes, dict[str, bytes]]]) -> bytes:
    path.write_bytes(b"".join(record_bytes(key, outputs) for key, outputs in entries))
    return path.read_bytes()


def test_the_journal_finds_the_last_record_of_a_key_by_search_and_by_reading_all(tmp_path: Path) -> None:
    made = random.Random(5)
    keys = [made.randbytes(16) for _ in range(40)]
    entries = [(made.choice(keys), {"what": made.randbytes(16), "=fact": bytes([i % 256])}) for i in range(400)]
    data = _write_journal(tmp_path / "journal", entries)
    last = dict(entries)
    assert dict(records(data)) == last
    for key in keys:
        assert Journal(str(tmp_path / "journal")).find(key) == last.get(key)
    journal = Journal(str(tmp_path / "journal"))
    assert [journal.find(key) for key in keys * 2] == [last.get(key) for key in keys * 2]
    assert Journal(str(tmp_path / "journal")).find(b"\0" * 16) is None


def test_a_damaged_record_gives_way_to_the_one_before_it(tmp_path: Path) -> None:
    key, other = b"k" * 16, b"o" * 16
    entries = [(key, {"what": b"first"}), (other, {"what": b"other"}), (key, {"what": b"second"})]
    data = bytearray(_write_journal(tmp_path / "journal", entries))
    data[-1] ^= 1
    (tmp_path / "journal").write_bytes(data)
    assert Journal(str(tmp_path / "journal")).find(key) == {"what": b"first"}
    assert Journal(str(tmp_path / "journal")).find(other) == {"what": b"other"}
    assert dict(records(bytes(data))) == dict(entries[:2])


def test_what_a_state_says_of_all_tasks_goes_when_another_run_wrote_in_between(tmp_path: Path) -> None:
    path = str(tmp_path / "state")
    first = StateDB(path)
    first.set("emit:A", "info", b"1")
    first.dump()

    slow, quick = StateDB(path), StateDB(path)
    quick.set("emit:A", "info", b"2")
    quick.dump()
    slow.set("emit:B", "info", b"3")
    for name in (ALL_MADE, TEXTS, "holes"):
        slow.note(name, b"key", 1)
    slow.dump()

    after = StateDB(path)
    assert (after.get("emit:A", "info"), after.get("emit:B", "info")) == (b"2", b"3")
    assert [after.get(REMEMBERED, name) is None for name in (ALL_MADE, TEXTS, "holes")] == [True, True, False]

    alone = StateDB(path)
    alone.note(ALL_MADE, b"key", 1)
    alone.dump()
    assert StateDB(path).recall(ALL_MADE, b"key", int) == 1


PIECES = ["struct A;\n\n", "", "struct \u00c9;\n  x;", "struct D;", "\n  \n"]


@pytest.mark.parametrize("indent", ["", "  "])
def test_pieces_stand_in_the_file_where_their_places_say(indent: str) -> None:
    release = resolve("2.13.0")
    nodes = ("A", "B", "C", "D", "E")
    file = File("Functions.cpp", "Functions.cpp", {}, {"nodes": "definition"}, nodes)
    template = shard.parse_template(f"// ${{generated_comment}}\n{indent}${{nodes}}\n}}\n".encode(), file, release)
    digests = [digest(piece.encode()) for piece in PIECES]
    loaded = []

    def load(node: str, piece: str) -> str:
        loaded.append(node)
        assert piece == "definition"
        return PIECES[nodes.index(node)]

    made = shard.run(file, template, "packaged", {"definition": digests}, {}, load, release)
    filled = template.fill({"generated_comment": "", "nodes": lines_of(PIECES)}).partition("\n")[2]
    assert made.data.decode().partition("\n")[2] == filled
    assert loaded == ["A", "C", "D", "E"]  # B has no text
    assert len(made.places) == 3

    loaded.clear()
    view = memoryview(made.data)
    taken = {name: view[at : at + length] for name, (at, length) in made.places.items()}
    assert shard.run(file, template, "packaged", {"definition": digests}, taken, load, release) == made
    assert loaded == ["E"]  # nothing but white space: it has no place


def test_a_second_definition_hides_the_first_one_also_when_only_the_first_is_edited(built: Project) -> None:
    built.append("derivatives.yaml", DUPLICATE.format(2))
    built.build()
    built.set_formula("exp", "self", "grad * result.conj() * 3")
    built.build()
    assert built.files() == built.clean_build()
    assert b"result.conj() * 2" in built.files()["Functions.cpp"]
    assert b"result.conj() * 3" not in built.files()["Functions.cpp"]


def test_files_that_killed_runs_left_half_written_go_and_those_of_others_stay(built: Project) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = built.generated / f"Functions.cpp.{gone.pid}.tmp"
    stays = [built.generated / f"Functions.cpp.{os.getpid()}.tmp", built.generated / f"notes.cpp.{gone.pid}.tmp"]
    for path in (left, *stays):
        path.write_text("half")
    built.set_formula("exp", "self", "grad * result.conj() * 1")
    built.build()
    assert not left.exists()
    assert all(path.exists() for path in stays)


def test_a_node_that_is_forgotten_is_made_again(built: Project) -> None:
    assert built.run().ran == []
    assert built.run("forget", "emit:ExpBackward0").status == 0
    assert built.run().ran == ["emit:ExpBackward0"]
    assert built.run().ran == []
