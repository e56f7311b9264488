"""The messages of Bazel's persistent workers in JSON: `worker_protocol.proto` (https://bazel.build/remote/creating)."""

from __future__ import annotations

import json
from collections.abc import Iterator

from msgspec import Struct

LARGEST = 1 << 28  # bytes of a request
_DECODER = json.JSONDecoder()


class WorkInput(Struct, frozen=True, rename="camel"):
    """An input of an action."""

    path: str = ""  # relative to the folder that the worker runs in
    digest: bytes = b""  # of its contents, as base64


class WorkRequest(Struct, frozen=True, rename="camel"):
    """An action to run."""

    arguments: tuple[str, ...] = ()
    inputs: tuple[WorkInput, ...] = ()
    request_id: int = 0  # 0 if the worker has no other request meanwhile
    cancel: bool = False  # whether the request with this number is no longer needed: it was answered
    verbosity: int = 0
    sandbox_dir: str = ""  # relative to that folder, the folder of this request


class WorkResponse(Struct, frozen=True, rename="camel"):
    """The result of an action."""

    exit_code: int = 0
    output: str = ""  # what the action printed
    request_id: int = 0


class Frames:
    """Cuts a stream into requests. An object ends with its bracket, with or without a newline behind it; a line that
    begins with none is one piece of garbage."""

    def __init__(self) -> None:
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        """More bytes of the stream. ValueError if a request has more than `LARGEST`."""
        self._data += data
        if len(self._data) > LARGEST:
            raise ValueError(f"a request has more than {LARGEST} bytes")

    def __iter__(self) -> Iterator[bytes]:
        """The complete pieces that were not returned yet. Each call reads an incomplete one again: call it when
        nothing more can be read."""
        while self.rest and (end := self._end()):
            piece = bytes(self._data[:end]).strip()
            del self._data[:end]
            yield piece

    def _end(self) -> int:
        """Where the first piece ends, 0 if it is incomplete."""
        line = self._data.find(b"\n") + 1
        if not line and not self._data.endswith(b"}"):
            return 0
        try:
            return _DECODER.raw_decode(self._data.decode("latin-1"))[1]  # a byte is a character
        except json.JSONDecodeError as error:
            return line or (len(self._data) if not error.pos else 0)
        except RecursionError:  # also of a part that ends with a bracket
            return line or (len(self._data) if self._data.count(b"{") <= self._data.count(b"}") else 0)

    @property
    def rest(self) -> bytes:
        """The bytes of an incomplete piece."""
        del self._data[: len(self._data) - len(self._data.lstrip())]
        return bytes(self._data)
