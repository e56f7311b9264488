"""How long a run waits for a shared cache, how much it takes from one, and what a client raises."""

from __future__ import annotations

# Seconds.
CONNECT = 3.0
IDLE = 5.0  # between two packets
FIND = 6.0  # a whole lookup; connecting included, as in the next two
FETCH = 15.0
PUT = 30.0

LARGEST = 1 << 28  # bytes of a blob: 20 times what all families take


class RemoteFailed(Exception):
    """The cache does not answer, or not as the protocol has it, with the reason. A later run may try again."""


class RemoteWrong(Exception):
    """The cache has something else than it should, with the reason. An upload replaces it."""
