"""What is known of the text of every Node, without looking at hundreds of tasks.

A run leaves a table in the state. It holds as long as the code that prints Nodes, the release and the pack are what
they were; a row of it holds for the info that it names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from pipeline.build.state import ALL_MADE, TEXTS
from pipeline.model.artifact import digest_of, encode
from pipeline.model.infos import NodeRow, Nodes

if TYPE_CHECKING:
    from pipeline.build.engine import Build


class Text(Struct, frozen=True, gc=False, array_like=True):
    """The text of one Node: the info it was made from, the artifact, the digests of the pieces."""

    info: bytes
    artifact: bytes
    pieces: dict[str, bytes]


class Texts:
    """The table, as far as it holds for the Nodes of the last match."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._index = b""  # the index of Nodes that `_known` and `_infos` are for
        self._infos: dict[str, bytes] = {}
        self._known: dict[str, Text] | None = None

    def all_made(self) -> int | None:
        """The number of Nodes, if a run noted that all are made, and nothing they depend on changed since."""
        noted = self._build.state.recall(ALL_MADE, self._key(), tuple[bytes, int])
        return noted[1] if noted is not None and noted[0] == self._current() else None

    def unknown(self) -> list[NodeRow]:
        """The Nodes whose text may have to be made."""
        known = self._bound()
        return [row for row in self._rows() if row.node not in known]

    def of(self, node: str) -> Text:
        """The text of a Node, as its task left it. Its fields are empty when there is none."""
        known = self._bound()
        found = known.get(node)
        if found is None:
            task = f"emit:{node}"
            outcome = self._build.outcome(task)
            info = self._infos.get(node, b"")
            found = Text(info, outcome.artifacts.get("text", b""), outcome.facts)
            if self._build.is_noted(task, info):
                known[node] = found
        return found

    def digests(self, nodes: Iterable[str], piece: str) -> list[bytes]:
        """The digests of one piece of many Nodes; empty for a Node without text."""
        known = self._bound()
        return [(known.get(node) or self.of(node)).pieces.get(piece, b"") for node in nodes]

    def artifacts(self, nodes: Iterable[str]) -> dict[str, bytes]:
        """The artifacts of many Nodes' texts."""
        known = self._bound()
        return {node: (known.get(node) or self.of(node)).artifact for node in nodes}

    def note(self) -> None:
        """Leaves the table for the next run, if all Nodes are made."""
        if self.all_made() is not None:
            return
        rows = self._rows()
        for row in rows:
            self.of(row.node)
        known = self._bound()
        if all(row.node in known for row in rows):
            key = self._key()
            self._build.state.note(TEXTS, key, {row.node: known[row.node] for row in rows})
            self._build.state.note(ALL_MADE, key, (self._index, len(rows)))

    def _bound(self) -> dict[str, Text]:
        """The rows that hold for the Nodes as they are now."""
        if self._known is None or self._index != self._current():
            known = self._known
            if known is None:
                known = self._build.state.recall(TEXTS, self._key(), dict[str, Text]) or {}
            rows = self._rows()
            self._index = self._current()
            self._infos = {row.node: row.info for row in rows}
            held = ((row, known.get(row.node)) for row in rows)
            self._known = {row.node: text for row, text in held if text is not None and text.info == row.info}
        return self._known

    def _rows(self) -> tuple[NodeRow, ...]:
        return self._build.load(self._current(), Nodes).rows

    def _current(self) -> bytes:
        return self._build.outcome("match").artifacts.get("nodes", b"")

    def _key(self) -> bytes:
        return digest_of((*(made.digest for made in self._build.emit_makers), encode(self._build.store.pack.stat())))
