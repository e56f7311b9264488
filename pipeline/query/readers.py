"""Who reads whom, as far as somebody asks: the way from what changed to what may be stale."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.query.row import ID, READ, Row, Trace, packed, places, unpacked
from pipeline.query.store import READERS, Store


class Readers:
    """Who reads which row: what the store knows, and what it does not know yet."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reads: list[bytes] = []  # what was noted of one reader each,
        self._noted: list[bytes] = []  # and which one that is
        self._found: dict[bytes, list[bytes]] = {}  # by what is read,
        self._listed = 0  # of so many that are noted

    def note(self, row: Row, trace: Trace, before: Trace | None) -> None:
        """Notes that a row reads what a trace says, and what it is known to read by the trace before."""
        reads = trace.reads
        if before is not None:
            known = dict(unpacked(before.reads))
            reads = packed({id_: given for id_, given in unpacked(reads) if id_ not in known})
        self._reads.append(reads)
        self._noted.append(row.id)

    def news(self, since: int = 0) -> Iterator[tuple[bytes, bytes]]:
        """Rows that are read, and who reads them, where the store does not know that yet."""
        for place in range(since, len(self._noted)):
            reads, reader = self._reads[place], self._noted[place]
            for at in range(0, len(reads), READ):
                yield reads[at : at + ID], reader

    def read(self, start: bytes) -> set[bytes]:
        """What anybody read or once read, of all whose number starts so."""
        known = (self._store.pairs(READERS + number) for number in range(256))
        found = {pairs[at : at + ID] for pairs in known for at in places(pairs, start, 2 * ID)}
        return found.union(id_ for id_, _ in self.news() if id_.startswith(start))

    def of(self, id_: bytes) -> set[bytes]:
        """The rows that read one, now or once."""
        for read, reader in self.news(self._listed):
            self._found.setdefault(read, []).append(reader)
        self._listed = len(self._noted)
        return self._store.readers(id_).union(self._found.get(id_, ()))
