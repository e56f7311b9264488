"""`ActionResult` of Bazel's Remote Execution API, as Protocol Buffers encode it: servers check entries against it.

message ActionResult { repeated OutputFile output_files = 2; int32 exit_code = 4; … }
message OutputFile { string path = 1; Digest digest = 2; … }
message Digest { string hash = 1; int64 size_bytes = 2; }

The wire format (https://protobuf.dev/programming-guides/encoding) has numbers as varints, strings and messages as
bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_OUTPUT = "gradmill-store.zip"  # the one output of an action
_FILES, _EXIT_CODE = 2, 4
_PATH, _DIGEST = 1, 2
_HASH, _SIZE = 1, 2
_HEX = re.compile("[0-9a-f]{64}")
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST = 10  # bytes of a varint


class Blob(Struct, frozen=True):
    """Bytes by their content."""

    sha256: str  # in hexadecimal
    size: int


def encode(blob: Blob) -> bytes:
    """The result of an action whose output is a blob."""
    digest = bytes_field(_HASH, blob.sha256.encode()) + number_field(_SIZE, blob.size)
    return bytes_field(_FILES, bytes_field(_PATH, _OUTPUT.encode()) + bytes_field(_DIGEST, digest))


def decode(data: bytes) -> Blob:
    """The blob in the result of an action. ValueError if there is not exactly one, or the action failed."""
    files = []
    for number, value in fields(data):
        if number == _FILES and isinstance(value, bytes):
            files.append(dict(fields(value)))
        elif number == _EXIT_CODE and value:
            raise ValueError("the action failed")
    found = [file.get(_DIGEST) for file in files if file.get(_PATH) == _OUTPUT.encode()]
    if len(found) != 1 or not isinstance(found[0], bytes):
        raise ValueError("it has no output, or several")
    digest = dict(fields(found[0]))
    name, size = digest.get(_HASH), digest.get(_SIZE)
    if not isinstance(name, bytes) or not isinstance(size, int) or not _HEX.fullmatch(text := name.decode("ascii")):
        raise ValueError("it has no digest")
    return Blob(text, size)


# ---- the wire format


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message: numbers and values. ValueError if it is not a message."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            number, at = read_varint(data, at)
            yield key >> 3, number
            continue
        if kind not in (_FIXED64, _BYTES, _FIXED32):
            raise ValueError("a field has an unknown type")
        size = 8 if kind == _FIXED64 else 4
        if kind == _BYTES:
            size, at = read_varint(data, at)
        if at + size > len(data):
            raise ValueError("a field is cut off")
        yield key >> 3, data[at : at + size]
        at += size


def read_varint(data: bytes | bytearray, at: int) -> tuple[int, int]:
    """The number at an offset, and the offset behind it. ValueError if it is cut off, or longer than any number."""
    number = 0
    for shift, byte in enumerate(data[at : at + _LONGEST]):
        number |= (byte & 127) << 7 * shift
        if byte < 128:
            return number, at + shift + 1
    raise ValueError("a number is cut off")


def bytes_field(number: int, data: bytes) -> bytes:
    """A field with a string or a message."""
    return varint(number << 3 | _BYTES) + varint(len(data)) + data


def number_field(number: int, value: int) -> bytes:
    """A field with a number that is not negative."""
    return varint(number << 3 | _VARINT) + varint(value)


def varint(number: int) -> bytes:
    """A number that is not negative."""
    result = bytearray()
    while number > 127:
        result.append(number & 127 | 128)
        number >>= 7
    return bytes((*result, number))
