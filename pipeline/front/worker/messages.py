"""The messages of Bazel's persistent workers in JSON: `worker_protocol.proto` (https://bazel.build/remote/creating).

In a stream, an object ends with its bracket, with or without a newline behind it. A line that is no object is one piece
of garbage, and the next request is found behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from pipeline.io.decoding import decode_json

LARGEST = 1 << 28  # bytes of a request
_OUTSIDE = re.compile(rb'["{}\n]')
_IN_STRING = re.compile(rb'\\[^\n]?|["\n]')


class WorkInput(Struct, frozen=True, rename="camel"):
    """An input of an action."""

    path: str = ""  # relative to the folder that the worker runs in
    digest: bytes = b""  # of its contents, as base64


class WorkRequest(Struct, frozen=True, rename="camel"):
    """An action to run."""

    arguments: tuple[str, ...] = ()
    inputs: tuple[WorkInput, ...] = ()
    request_id: int = 0  # 0 if the worker has no other request meanwhile
    cancel: bool = False  # whether the request with this number is no longer needed; it has no arguments then
    verbosity: int = 0
    sandbox_dir: str = ""  # relative to that folder, the folder of this request


class WorkResponse(Struct, frozen=True, rename="camel"):
    """The result of an action."""

    exit_code: int = 0
    output: str = ""  # what the action printed
    request_id: int = 0
    was_cancelled: bool = False


def decode_request(data: bytes) -> WorkRequest:
    """ValueError if the data are no request, or too large for one."""
    if len(data) > LARGEST:
        raise ValueError(f"it has more than {LARGEST} bytes")
    return decode_json(data, WorkRequest)


def encode_response(response: WorkResponse) -> bytes:
    """One line."""
    return msgspec.json.encode(response) + b"\n"


class Frames:
    """Cuts a stream into requests. Of one that is larger than `LARGEST` it keeps one byte more than that."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._restart()

    def _restart(self) -> None:
        self._at = self._depth = 0
        self._in_string = False

    def add(self, data: bytes) -> None:
        """More bytes of the stream."""
        self._data += data

    def __iter__(self) -> Iterator[bytes]:
        """The complete frames that were not returned yet."""
        while self._is_complete():
            frame = bytes(self._data[: self._at]).strip()
            del self._data[: self._at]
            self._restart()
            if frame:
                yield frame
        if self._at > LARGEST + 1:
            del self._data[LARGEST + 1 : self._at]
            self._at = LARGEST + 1

    def _is_complete(self) -> bool:
        """Whether the first frame is complete: it ends at `_at` then. Each byte is read once."""
        while match := (_IN_STRING if self._in_string else _OUTSIDE).search(self._data, self._at):
            word = match[0]
            if word == b"\\" and match.end() == len(self._data):
                self._at = match.start()  # the escaped character is missing
                return False
            self._at = match.end()
            if word == b"\n":
                return True
            if word == b'"':
                self._in_string = not self._in_string
            elif word == b"{":
                self._depth += 1
            elif word == b"}":
                self._depth -= 1
                if self._depth <= 0:
                    return True
        self._at = len(self._data)
        return False

    @property
    def rest(self) -> bytes:
        """The bytes of an incomplete frame."""
        return bytes(self._data).strip()
