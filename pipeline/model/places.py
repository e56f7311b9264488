"""Where the pieces stand in a generated file: what did not change is taken from there when the file is made again."""

from __future__ import annotations

from pipeline.model.artifact import Artifact


class Places(Artifact, frozen=True, dict=True, tag="places/1"):
    """Pieces by the digest of their text: offset and length in the file that has the digest `file`."""

    file: bytes
    pieces: dict[bytes, tuple[int, int]]
