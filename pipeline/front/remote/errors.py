"""What a client of a shared cache raises."""

from __future__ import annotations


class RemoteFailed(Exception):
    """The cache does not answer, or not as the protocol has it, with the reason. A later run may try again."""


class RemoteWrong(Exception):
    """The cache has something else than it should, with the reason. An upload replaces it."""
