"""The names that formulas may use: what they may call, the methods and the constants. Part of the stage `infos`.

A formula reads the names that it uses, one by one: what else is declared is nothing to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.cpp.declared import ANY, Header, Overload
from pipeline.cpp.overloads import Called, calls_of
from pipeline.grammar.buckets import bucket_of
from pipeline.problems.problem import SpecError
from pipeline.query.database import Database
from pipeline.query.query import query, table, unkept
from pipeline.rules.derivatives.known import CALL, CONSTANT, METHOD, SYMINT
from pipeline.specs.headers import MANUAL
from pipeline.specs.text import decode_text
from pipeline.stages.schemas import GENERATED, buckets, declared, heads
from pipeline.stages.set import RELEASE, described, header_label, release, spec_set

_ANY = (0, ANY)


@query
def declared_in(db: Database, header: str) -> Header:
    """What a header of the set declares; nothing where it cannot be read as text."""
    from pipeline.cpp.header import read_header  # for those who read headers

    try:
        return read_header(decode_text(db.input(header_label(header)) or b""))
    except SpecError:
        return Header({}, [], [])


@unkept
def declarations(db: Database, header: str) -> dict[str, list[tuple[int, str]]]:
    """The functions that a header of the set declares, each with the lines and the texts of its declarations."""
    from pipeline.cpp.header import declared_at

    try:
        return declared_at(decode_text(db.input(header_label(header)) or b""))
    except SpecError:
        return {}


@table
def called(db: Database, bucket: str) -> dict[str, Called]:
    """The functions of a bucket by what they are called in C++: formulas call them, as functions and as methods."""
    generated = [head.cpp_name for name, head in heads(db, bucket) if name.startswith(GENERATED)]
    return calls_of(declared(db, bucket).values(), generated)


@table
def helpers(db: Database) -> dict[str, list[Overload]]:
    """The overloads of the functions that the headers of the set declare."""
    found: dict[str, list[Overload]] = {}
    for header in (declared_in(db, name) for name in spec_set(db).headers):
        for name, overloads in header.overloads.items():
            found.setdefault(name, []).extend(overloads)
    return found


def helpers_of_release(db: Database) -> dict[str, tuple[int, int]]:
    """The release's helpers of formulas, each with the least and the most arguments; none where the set has the header
    that declares them."""
    from pipeline.releases.names import names_of

    if MANUAL in spec_set(db).headers:
        return {}
    return names_of((db.input(RELEASE) or b"").decode()).helpers


@table
def known(db: Database) -> dict[str, tuple[int, int]]:
    """The names that headers and the release have, by what they are used for, with the least and the most arguments.

    A whole set has no other functions than it declares; any other may be a part of a release, and knows the names of
    its functions. The header of the release's helpers, in any set that has one, says which there are.
    """
    from pipeline.releases.names import names_of  # large tables, for those who read formulas

    own = spec_set(db)
    names = names_of((db.input(RELEASE) or b"").decode())
    found = {CALL + name: arity for name, arity in helpers_of_release(db).items()}
    for header in (declared_in(db, name) for name in own.headers):
        found |= {CALL + name: (arity.least, arity.most) for name, arity in header.functions.items()}
        found |= {CALL + name: _ANY for name in header.others}
        found |= {CONSTANT + name: _ANY for name in header.constants}
    found |= {CALL + name: _ANY for name in (*names.others, *(() if own.whole else names.functions))}
    found |= {METHOD + name: _ANY for name in names.methods}
    found |= {f"{CONSTANT}k{dtype}": _ANY for dtype in release(db).dtypes}
    return dict(sorted(found.items()))


@query
def declares_all(db: Database) -> bool:
    """Whether the set has all functions of its release: what it does not declare, formulas cannot call."""
    return spec_set(db).whole


@table
def most_of_release(db: Database) -> dict[str, int]:
    """The most arguments of the functions and methods of the release of which a set may be a part, where known."""
    from pipeline.releases.names import names_of

    if spec_set(db).whole:
        return {}
    names = names_of((db.input(RELEASE) or b"").decode())
    both = ((CALL, names.functions), (METHOD, names.methods))
    found = {kind + name: most for kind, taken in both for name, most in taken.items() if most is not None}
    return dict(sorted(found.items()))


class Vocabulary:
    """What is known of the names that formulas may use: each is a read of its own."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._found: dict[str, Called | None] = {}
        self._whole: bool | None = None  # not asked yet

    def arity(self, kind: str, name: str) -> tuple[int, int] | None:
        own = kind in (CALL, METHOD) and self._called(name) is not None
        return _ANY if own else known.item(self._db, kind + name)

    def _called(self, name: str) -> Called | None:
        if name not in self._found:
            self._found[name] = called.item(self._db, bucket_of(name.removesuffix(SYMINT)), name)
        return self._found[name]

    def overloads(self, kind: str, name: str) -> Sequence[Overload] | None:
        own = self._called(name)
        if own is not None:
            return own.methods if kind == METHOD else own.functions
        return helpers.item(self._db, name) if kind == CALL else None

    def all_overloads(self, kind: str, name: str) -> Sequence[Overload] | None:
        own = self._called(name) or Called([], [])
        found = own.methods if kind == METHOD else own.functions
        of_release = known.item(self._db, (METHOD if kind == METHOD else CALL) + name)
        if found is None or not self.is_whole():
            return None
        if kind == METHOD:  # those of a release are listed, which has no others than a whole set declares
            return None if of_release is not None and not (found and spec_set(self._db).whole) else found
        if of_release == _ANY:
            return None  # the release has it, perhaps in other ways
        declared_in_headers = helpers.item(self._db, name) or [] if kind == CALL else []
        if kind == CALL and of_release is not None and not declared_in_headers:
            return None  # a helper that no header of the set declares
        return [*found, *declared_in_headers]

    def most(self, kind: str, name: str) -> int:
        if self._whole is None:
            self._whole = declares_all(self._db)
        of_release = None if self._whole else most_of_release.item(self._db, kind + name.removesuffix(SYMINT))
        if of_release is None:
            return ANY
        own, header = self._called(name), helpers.item(self._db, name) if kind == CALL else None
        found = (own.methods if kind == METHOD else own.functions) if own is not None else []
        if found is None:
            return ANY
        return max([of_release, *(len(overload.types) for overload in (*found, *(header or ())))])

    def names(self, kind: str) -> list[str]:
        listed = [name.removeprefix(kind) for name in self._db.names(known) if name.startswith(kind)]
        if kind not in (CALL, METHOD):
            return listed
        own = (name for bucket in self._db.names(buckets) for name in self._db.names(called, bucket))
        return sorted({*listed, *own})

    def is_whole(self) -> bool:
        """Not where layers have formulas of their own and do not say which headers declare what these call."""
        found = described(self._db)
        return found is None or all(layer.helpers or not layer.derivatives for layer in found.description.layers)
