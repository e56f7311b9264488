"""Stage `specs`: the text of one YAML file to its raw entries.

Reads the file's text; writes a `SpecFile`. Entries whose text is that of an entry of the last run are not parsed.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Raw

from pipeline.model.artifact import digest
from pipeline.model.specs import SpecEntry, SpecFile
from pipeline.problems.problem import Problem, Role, SpecError, TextMistake
from pipeline.specs.entries import cut, parse_pieces, parse_whole, read_text


class Read(NamedTuple):
    file: SpecFile
    problems: list[Problem]


def run(data: bytes, role: Role, name: str, previous: SpecFile | None) -> Read:
    """The entries of one file. A file that is no list of entries has none, and a problem."""
    try:
        text = read_text(data)
        entries = _by_entry(text, role, previous)
        if entries is None:
            whole = tuple(_made(piece.line, piece.text, value) for piece, value in parse_whole(text, role))
            return Read(SpecFile(role, name, whole), [])
    except TextMistake as mistake:
        problem = Problem(role, -1, "", mistake.problem, mistake.hint, line=mistake.line, column=mistake.column)
        return Read(SpecFile(role, name, ()), [problem])
    except SpecError as error:
        return Read(SpecFile(role, name, ()), [Problem(role, -1, "", error.problem, error.hint, line=1, column=1)])
    return Read(SpecFile(role, name, entries, cuttable=True), [])


def _by_entry(text: str, role: Role, previous: SpecFile | None) -> tuple[SpecEntry, ...] | None:
    """The entries, the known ones taken over and the others parsed on their own; None where that will not do.

    A known entry was parsed on its own too, or from a file without references: it means what its text says.
    """
    pieces = cut(text)
    if pieces is None:
        return None
    known = {entry.text: entry for entry in previous.entries} if previous is not None and previous.cuttable else {}
    fresh = list(dict.fromkeys(piece.text for piece in pieces if piece.text not in known))
    try:
        made = {piece: _made(0, piece, value) for piece, value in zip(fresh, parse_pieces(fresh, role))}
    except TextMistake:
        return None  # parsed whole, to report the mistake at its place, or to find that the cut was wrong
    return tuple(_at(piece.line, known.get(piece.text) or made[piece.text]) for piece in pieces)


def _at(line: int, entry: SpecEntry) -> SpecEntry:
    return entry if entry.line == line else SpecEntry(line, entry.text, entry.value, entry.digest)


def _made(line: int, text: str, value: bytes) -> SpecEntry:
    return SpecEntry(line, text, Raw(value), digest(value))
