"""The messages of Bazel's persistent workers, as JSON or as Protocol Buffers encode them.

Their definition is `worker_protocol.proto` of Bazel (https://bazel.build/remote/creating):

message Input { string path = 1; bytes digest = 2; }
message WorkRequest { repeated string arguments = 1; repeated Input inputs = 2; int32 request_id = 3; bool cancel = 4;
  int32 verbosity = 5; string sandbox_dir = 6; }
message WorkResponse { int32 exit_code = 1; string output = 2; int32 request_id = 3; bool was_cancelled = 4; }
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from pipeline.front.remote.protobuf import bytes_field, fields, number_field
from pipeline.io.decoding import decode_json


class WorkInput(Struct, frozen=True, rename="camel"):
    """An input of an action."""

    path: str = ""  # relative to the folder that the worker runs in
    digest: bytes = b""  # of its contents; in JSON as base64


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


def request_from_json(data: bytes) -> WorkRequest:
    """ValueError if the data are no request."""
    return decode_json(data, WorkRequest)


def response_to_json(response: WorkResponse) -> bytes:
    """One line."""
    return msgspec.json.encode(response) + b"\n"


def request_from_proto(data: bytes) -> WorkRequest:
    """ValueError if the data are no request."""
    arguments, inputs = [], []
    numbers = {3: 0, 4: 0, 5: 0}
    folder = ""
    for field, value in fields(data):
        if field == 1:
            arguments.append(_text(value))
        elif field == 2:
            inputs.append(_input(value))
        elif field in numbers:
            numbers[field] = _number(value)
        elif field == 6:
            folder = _text(value)
    return WorkRequest(tuple(arguments), tuple(inputs), numbers[3], bool(numbers[4]), numbers[5], folder)


def response_to_proto(response: WorkResponse) -> bytes:
    """A message after its length."""
    numbers = {1: response.exit_code, 3: response.request_id, 4: int(response.was_cancelled)}
    data = _numbers(numbers) + bytes_field(2, response.output.encode("utf-8", "replace"))
    return bytes_field(0, data)[1:]


def _numbers(numbers: Mapping[int, int]) -> bytes:
    return b"".join(number_field(field, value) for field, value in numbers.items() if value)


def _input(value: int | bytes) -> WorkInput:
    if isinstance(value, int):
        raise ValueError("an input is a number")
    named = dict(fields(value))
    digest = named.get(2, b"")
    return WorkInput(_text(named.get(1, b"")), digest if isinstance(digest, bytes) else b"")


def _text(value: int | bytes) -> str:
    if isinstance(value, int):
        raise ValueError("a string is a number")
    return value.decode()  # UnicodeDecodeError is a ValueError


def _number(value: int | bytes) -> int:
    if not isinstance(value, int):
        raise ValueError("a number is a string")
    return value
