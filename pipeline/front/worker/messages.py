"""The messages of Bazel's persistent workers in JSON: `worker_protocol.proto` (https://bazel.build/remote/creating)."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from pipeline.front.worker.frames import LARGEST
from pipeline.io.decoding import decode_json


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
