"""What a run asks of a shared cache, whatever carries it: a blob by the key of what makes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

OUTPUT = "gradmill-store.zip"  # the one output of an action


class Blob(Struct, frozen=True):
    """Bytes by their content."""

    sha256: str  # in hexadecimal
    size: int


class RemoteFailed(Exception):
    """The cache does not answer, or not as the protocol has it, with the reason. A later run may try again."""


class RemoteWrong(Exception):
    """The cache has something else than it should, with the reason. An upload replaces it."""


class Remote(Protocol):
    """A shared cache. Each method ends within a limited time. RemoteFailed and RemoteWrong are all that it raises, and
    OSError for a local file. A key is a SHA-256 in hexadecimal."""

    def open(self) -> None:
        """Begins to connect, and does not wait."""

    def find(self, key: str) -> Blob | None:
        """The result of the action with a key. None if the cache does not know the action."""

    def fetch(self, blob: Blob, path: str) -> bool:
        """Writes a blob to a new file. False if the cache no longer has it. The size and the SHA-256 are verified."""

    def check_uploads(self) -> None:
        """RemoteFailed if the cache is known to accept no upload."""

    def put(self, keys: Sequence[str], blob: Blob, path: str, *, replaces: bool = False) -> None:
        """Stores the blob in a file, unless the cache has it, then that it is the result of the actions with these
        keys. `replaces`: what the cache has may be damaged, or missing although it says otherwise: the blob is sent."""

    def close(self) -> None:
        """Ends the connection."""
