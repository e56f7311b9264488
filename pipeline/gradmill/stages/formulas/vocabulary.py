"""The names that formulas may use: functions, methods and constants. Part of the stage `infos`.

A formula depends on each name that it uses, and on no other declaration.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradmill.cpp.declared import ANY, DeclaredOverload, Header
from gradmill.cpp.overloads import SYMINT, Called, calls_of
from gradmill.grammar.buckets import bucket_of
from gradmill.lints.known import CALL, CONSTANT, METHOD
from gradmill.problems.problem import SpecError
from gradmill.query.database import Database
from gradmill.query.query import query, table, unkept
from gradmill.specs.headers import MANUAL
from gradmill.specs.text import decode_text
from gradmill.stages.schemas import GENERATED, buckets, declared, heads
from gradmill.stages.set import described, header_label, release, spec_set, version

_ANY = (0, ANY)


@query
def declared_in(db: Database, header: str) -> Header:
    """The declarations of a header of the set; none if it cannot be read as text."""
    from gradmill.cpp.header import read_header  # only needed with headers

    try:
        return read_header(decode_text(db.input(header_label(header)) or b""))
    except SpecError:
        return Header({}, [], [])


@unkept
def declarations(db: Database, header: str) -> dict[str, list[tuple[int, str]]]:
    """The functions that a header of the set declares, each with the lines and texts of its declarations."""
    from gradmill.cpp.header import declared_at

    try:
        return declared_at(decode_text(db.input(header_label(header)) or b""))
    except SpecError:
        return {}


@table
def called(db: Database, bucket: str) -> dict[str, Called]:
    """The functions of a bucket by C++ name, as formulas call them: as functions and as methods."""
    generated = [head.cpp_name for name, head in heads(db, bucket) if name.startswith(GENERATED)]
    return calls_of(declared(db, bucket).values(), generated)


@table
def helpers(db: Database) -> dict[str, list[DeclaredOverload]]:
    """The overloads of the functions that the headers of the set declare."""
    by_name: dict[str, list[DeclaredOverload]] = {}
    for header in (declared_in(db, name) for name in spec_set(db).headers):
        for name, overloads in header.overloads.items():
            by_name.setdefault(name, []).extend(overloads)
    return by_name


def helpers_of_release(db: Database) -> dict[str, tuple[int, int]]:
    """The release's helpers for formulas, each with the least and the most arguments; none if the set has the header
    that declares them."""
    from gradmill.releases.names import names_of

    if MANUAL in spec_set(db).headers:
        return {}
    return names_of(version(db)).helpers


@table
def known(db: Database) -> dict[str, tuple[int, int]]:
    """The names of headers and of the release, prefixed by their use, each with the least and the most arguments.

    A whole set has only the functions that it declares. Any other set may be a part of a release, so the functions of
    the release are known too. If the set has the header of the release's helpers, it alone declares them.
    """
    from gradmill.releases.names import names_of  # large tables, only needed with formulas

    own = spec_set(db)
    names = names_of(version(db))
    arities = {CALL + name: arity for name, arity in helpers_of_release(db).items()}
    for header in (declared_in(db, name) for name in own.headers):
        arities |= {CALL + name: arity for name, arity in header.arities.items()}
        arities |= {CALL + name: _ANY for name in header.others}
        arities |= {CONSTANT + name: _ANY for name in header.constants}
    arities |= {CALL + name: _ANY for name in (*names.others, *(() if own.whole else names.functions))}
    arities |= {METHOD + name: _ANY for name in names.methods}
    arities |= {f"{CONSTANT}k{dtype}": _ANY for dtype in release(db).dtypes}
    return dict(sorted(arities.items()))


@table
def most_of_release(db: Database) -> dict[str, int]:
    """The most arguments of the release's functions and methods, if known; none for a whole set."""
    from gradmill.releases.names import names_of

    if spec_set(db).whole:
        return {}
    names = names_of(version(db))
    both = ((CALL, names.functions), (METHOD, names.methods))
    most_arguments = {kind + name: most for kind, arities in both for name, most in arities.items() if most is not None}
    return dict(sorted(most_arguments.items()))


class Vocabulary:
    """The names that formulas may use; each lookup is a separate dependency."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def arity(self, kind: str, name: str) -> tuple[int, int] | None:
        """As `KnownNames.arity`."""
        own = kind in (CALL, METHOD) and self._called(name) is not None
        return _ANY if own else known.item(self._db, kind + name)

    def _called(self, name: str) -> Called | None:
        return called.item(self._db, bucket_of(name.removesuffix(SYMINT)), name)

    def _of_set(self, kind: str, name: str) -> Sequence[DeclaredOverload] | None:
        """The overloads of the set's own function, none if it has none; None if these are not known."""
        own = self._called(name) or Called([], [])
        return own.methods if kind == METHOD else own.functions

    def overloads(self, kind: str, name: str) -> Sequence[DeclaredOverload] | None:
        """As `KnownNames.overloads`."""
        if self._called(name) is not None:
            return self._of_set(kind, name)
        return helpers.item(self._db, name) if kind == CALL else None

    def all_overloads(self, kind: str, name: str) -> Sequence[DeclaredOverload] | None:
        """As `KnownNames.all_overloads`."""
        overloads = self._of_set(kind, name)
        of_release = known.item(self._db, (METHOD if kind == METHOD else CALL) + name)
        if overloads is None or not self.is_whole():
            return None
        if kind == METHOD:  # a release lists its methods, and a whole set declares all of them
            return None if of_release is not None and not (overloads and spec_set(self._db).whole) else overloads
        if of_release == _ANY:
            return None  # the release has it, perhaps with other overloads
        declared_in_headers = helpers.item(self._db, name) or [] if kind == CALL else []
        if kind == CALL and of_release is not None and not declared_in_headers:
            return None  # a helper that no header of the set declares
        return [*overloads, *declared_in_headers]

    def most(self, kind: str, name: str) -> int:
        """As `KnownNames.most`."""
        of_release = most_of_release.item(self._db, kind + name.removesuffix(SYMINT))
        if of_release is None:
            return ANY
        overloads = self._of_set(kind, name)
        header = helpers.item(self._db, name) if kind == CALL else None
        if overloads is None:
            return ANY
        return max([of_release, *(len(overload.types) for overload in (*overloads, *(header or ())))])

    def names(self, kind: str) -> list[str]:
        """As `KnownNames.names`."""
        listed = [name.removeprefix(kind) for name in self._db.names(known) if name.startswith(kind)]
        if kind not in (CALL, METHOD):
            return listed
        own = (name for bucket in self._db.names(buckets) for name in self._db.names(called, bucket))
        return sorted({*listed, *own})

    def is_whole(self) -> bool:
        """Whether all names are known: not if a layer has its own formulas but names no headers for their helpers."""
        layers = described(self._db)
        return layers is None or all(layer.helpers or not layer.derivatives for layer in layers.description.layers)
