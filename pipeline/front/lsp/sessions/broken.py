"""Texts that cannot be read while they are typed: what is wrong with them, found without a build.

To a build, a file that is no YAML has no entries, and all that was made of them is gone until the bracket is closed.
An editor keeps what the file said last, and tells the mistake, with what a run would tell beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from pipeline.problems.causes import causes
from pipeline.problems.problem import Problem, Role, SpecError, TextMistake
from pipeline.specs.entries import cut, parse_pieces, parse_plain, parse_whole, read_text


class Read(Struct, frozen=True):
    """What a text came to: entries that can be read, and what keeps the text from being read."""

    pieces: frozenset[str] = frozenset()
    mistake: SpecError | None = None


def read(data: bytes, role: Role, good: Collection[str]) -> Read:
    """Looks whether the bytes of a file can be read; `good` are entries of which that is known."""
    try:
        text = read_text(data)
        pieces = frozenset(piece.text for piece in cut(text) or ())
        if not pieces or not all(_stands_alone(piece, role) for piece in pieces - frozenset(good)):
            parse_whole(text, role)
    except SpecError as error:
        return Read(frozenset(good), error)
    return Read(pieces)


def _stands_alone(piece: str, role: Role) -> bool:
    try:
        return parse_plain(piece, role) is not None or bool(parse_pieces([piece], role))
    except TextMistake:
        return False


def beside(problems: Iterable[Problem], roles: Collection[Role], mistakes: Iterable[Problem]) -> list[Problem]:
    """What a run tells while the files of some roles cannot be read, of the `problems` that there are without that:
    the mistakes, and of the others those that are not about entries of these files."""
    return causes([*mistakes, *(problem for problem in problems if problem.role not in roles)])
