"""Symbols: the entries of a file with their fields, and the operators, Nodes and helpers of a set by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from gradmill.extensions.browse.editor.operators import name_of
from gradmill.extensions.browse.editor.outline import Block, outline
from gradmill.extensions.browse.editor.spots import Files, Spot, names_in
from gradmill.model.entries import by_key
from gradmill.model.keys import ENTRY_KEY
from gradmill.model.layers import entry_operator
from gradmill.query.database import Database
from gradmill.reports.helpers import all_declared
from gradmill.stages import infos
from gradmill.stages.specs import keys_of
from gradmill.stages.specs import lines as lines_of_entries

MOST = 500  # symbols of a set that are offered at once; a longer query leaves fewer

Kind = Literal["operator", "Node", "helper"]


class Symbol(Struct, frozen=True):
    """An operator, a Node or a helper: its name, its place, and the entry or the header that has it."""

    name: str
    kind: Kind
    spot: Spot
    within: str


def symbols(db: Database, query: str, files: Files) -> list[Symbol]:
    """The symbols of a set that match a query, the best first: the letters of the query occur in their names in this
    order, in either case."""
    letters = query.lower().replace(" ", "")
    ranked = []
    for number, symbol in enumerate(_all_symbols(db, files)):
        rank = rank_of(letters, symbol.name.lower())
        if rank is not None:
            ranked.append((rank, len(symbol.name), number, symbol))
    return [symbol for *_, symbol in sorted(ranked, key=lambda each: each[:3])[:MOST]]


def rank_of(letters: str, name: str) -> int | None:
    """How well a name matches the letters of a query, both in lower case: 0 is best; None if it does not match."""
    if name.startswith(letters):
        return 0 if name == letters else 1
    at = name.find(letters)
    if at > 0:
        return 2 if name[at - 1] in "_." else 3
    start = 0
    for letter in letters:
        start = name.find(letter, start) + 1
        if not start:
            return None
    return 4


def _all_symbols(db: Database, files: Files) -> Iterator[Symbol]:
    for path, line, start, key, match in names_in(files, "native"):
        if key == ENTRY_KEY["native"]:
            spot = Spot(path, line, start + match.start(2), start + match.end())
            yield Symbol(match.group().rpartition("::")[2], "operator", spot, "native_functions.yaml")
    nodes = nodes_of_entries(db)
    for key, path, lines in files.keyed("derivatives"):
        for block, entry in entries_of(db, key, outline(lines)):
            for node in nodes.get(entry, ()):
                spot = Spot(path, block.line, block.body.indent, len(lines[block.line]))
                yield Symbol(node, "Node", spot, block.body.operator)
    for helper in all_declared(db):
        name, line = helper.name, helper.line
        path, lines = files.headers.get(helper.header, ("", ()))
        start = lines[line - 1].find(name) if 0 < line <= len(lines) else -1
        if start >= 0:
            yield Symbol(name, "helper", Spot(path, line - 1, start, start + len(name)), helper.header)


def nodes_of_entries(db: Database) -> dict[str, list[str]]:
    """The Nodes of each entry of derivatives.yaml, without those of copies of views."""
    return by_key((row.definition, row.node) for row in infos.rows(db).values() if row.node and not row.is_copy)


def entries_of(db: Database, key: str, blocks: Sequence[Block]) -> Iterator[tuple[Block, str]]:
    """The definitions in a file's text that the set has, and their identities. `key` is the file's key in the set.

    The set may have the last readable text of the file, or changes of it by a diff: an entry that is not at its line is
    the next one of its operator.
    """
    keys, at = keys_of(db, "derivatives"), lines_of_entries(db, "derivatives")
    listed = [entry for entry in at if keys.get(entry) == key]
    exact = {at[entry] - 1: entry for entry in listed}
    named = {block.line: entry for block in blocks if _is(entry := exact.get(block.line, ""), block)}
    taken = set(named.values())
    left = by_key((name_of(entry_operator(entry)), entry) for entry in listed if entry not in taken)
    for block in blocks:
        if block.line in named:
            yield block, named[block.line]
        elif left.get(block.body.operator):
            yield block, left[block.body.operator].pop(0)


def _is(entry: str, block: Block) -> bool:
    return bool(entry) and name_of(entry_operator(entry)) == block.body.operator
