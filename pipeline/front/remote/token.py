"""The bearer token of a shared cache, which is in a file and never on a command line."""

from __future__ import annotations

from pipeline.front.remote.protocol import RemoteFailed
from pipeline.io.files import read_file

_LARGEST = 1 << 14  # bytes of the file


def read_token(path: str) -> str:
    """The token in a file. RemoteFailed if it has none, or more than one line."""
    text = (read_file(path, _LARGEST) or b"").decode("latin-1").strip()
    if not text or " " in text or not (text.isascii() and text.isprintable()):
        raise RemoteFailed(f"{path} is no file with one line, the token")
    return text
