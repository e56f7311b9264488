"""Where messages end in a stream: JSON objects, one a line or without a separator, or lengths and messages.

A frame that is no message is one piece of garbage, and the next one is found behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Protocol

from pipeline.front.remote.protobuf import read_varint
from pipeline.front.worker.messages import (
    WorkRequest,
    WorkResponse,
    request_from_json,
    request_from_proto,
    response_to_json,
    response_to_proto,
)

LARGEST = 1 << 28  # bytes of a message
_TOKEN = re.compile(rb'"(?:[^"\\\n]|\\[^\n])*"|[{}\n]|(?P<cut>"[^\n]*\Z)')
_LENGTH = 5  # bytes of a length, at most


class NoFrame(Exception):
    """The stream has no further messages that could be found."""


class Frames(Protocol):
    """Cuts a stream into the bytes of messages."""

    def add(self, data: bytes) -> None:
        """More bytes of the stream."""

    def __iter__(self) -> Iterator[bytes]:
        """The complete frames that were not returned yet. NoFrame as there."""

    @property
    def rest(self) -> bytes:
        """The bytes of an incomplete one."""


class JsonFrames:
    """An object ends with its bracket; a line that is no object ends with the line."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._at = self._depth = 0

    def add(self, data: bytes) -> None:
        self._data += data

    def __iter__(self) -> Iterator[bytes]:
        while (end := self._end()) is not None:
            frame = bytes(self._data[:end]).strip()
            del self._data[:end]
            self._at = self._depth = 0
            if frame:
                yield frame
        if len(self._data) > LARGEST:
            raise NoFrame(f"a message has more than {LARGEST} bytes")

    def _end(self) -> int | None:
        """The end of the first frame; None if it is not complete."""
        for token in _TOKEN.finditer(self._data, self._at):
            word = token[0]
            if word == b"\n":
                return token.end()
            if word == b"{":
                self._depth += 1
            elif word == b"}":
                self._depth -= 1
                if self._depth <= 0:
                    return token.end()
            elif token.lastgroup:
                return None  # a string that is cut off: it is read again with more bytes
            self._at = token.end()
        return None

    @property
    def rest(self) -> bytes:
        return bytes(self._data).strip()


class ProtoFrames:
    """A length, as a varint, and as many bytes."""

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        self._data += data

    def __iter__(self) -> Iterator[bytes]:
        while self._data:
            try:
                size, start = read_varint(self._data[:_LENGTH], 0)
            except ValueError:
                if len(self._data) >= _LENGTH:
                    raise NoFrame("a length is no number") from None
                return
            if size > LARGEST:
                raise NoFrame(f"a message has more than {LARGEST} bytes")
            if len(self._data) < start + size:
                return
            frame = bytes(self._data[start : start + size])
            del self._data[: start + size]
            yield frame

    @property
    def rest(self) -> bytes:
        return bytes(self._data)


# The protocols, by the names that Bazel's `requires-worker-protocol` has.
PROTOCOLS: dict[
    str, tuple[type[JsonFrames | ProtoFrames], Callable[[bytes], WorkRequest], Callable[[WorkResponse], bytes]]
] = {
    "proto": (ProtoFrames, request_from_proto, response_to_proto),
    "json": (JsonFrames, request_from_json, response_to_json),
}
