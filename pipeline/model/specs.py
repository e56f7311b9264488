"""The `specs` artifacts: the entries of one YAML file, raw."""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

from pipeline.model.artifact import Artifact, digest_of
from pipeline.problems.problem import Role

# Marks a mapping whose order counts, kept as a list of pairs.
PAIRS = "!pairs"

# Starts the only key of a mapping that stands for a value which no key of a spec file takes, a date for example.
ODD_VALUE = "!yaml "


class SpecEntry(Struct, frozen=True, gc=False, array_like=True):
    """One entry: where it stands, its text, its value, and the digest of the value."""

    line: int  # 1-based, of the entry's first line
    text: str
    value: Raw  # MessagePack
    digest: bytes

    def decode(self) -> object:
        """The value, as plain dicts, lists and scalars."""
        return msgspec.msgpack.decode(self.value)


class SpecFile(Artifact, frozen=True, dict=True, tag="specs/1"):
    """One file of a spec set. `name` is the file's name within the set."""

    role: Role
    name: str
    entries: tuple[SpecEntry, ...]
    cuttable: bool = False  # every entry means what its own text says

    def meaning(self) -> bytes:
        """Digest of what the file says: comments, blank lines, key order and places left out."""
        return digest_of(entry.digest for entry in self.entries)
