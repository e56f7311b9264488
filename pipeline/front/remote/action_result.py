"""`ActionResult` of Bazel's Remote Execution API, as Protocol Buffers encode it: servers check entries against it.

message ActionResult { repeated OutputFile output_files = 2; int32 exit_code = 4; … }
message OutputFile { string path = 1; Digest digest = 2; … }
message Digest { string hash = 1; int64 size_bytes = 2; }
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.front.remote.protocol import OUTPUT, Blob

_FILES, _EXIT_CODE = 2, 4
_PATH, _DIGEST = 1, 2
_HASH, _SIZE = 1, 2
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST = 10  # bytes of a varint
_HEX = re.compile("[0-9a-f]{64}")


def encode(blob: Blob) -> bytes:
    """The result of an action whose output is a blob."""
    digest = _text(_HASH, blob.sha256.encode()) + _varint(_SIZE << 3 | _VARINT) + _varint(blob.size)
    return _text(_FILES, _text(_PATH, OUTPUT.encode()) + _text(_DIGEST, digest))


def decode(data: bytes) -> Blob:
    """The blob in the result of an action. ValueError if there is not exactly one, or the action failed."""
    files = []
    for number, value in _fields(data):
        if number == _FILES and isinstance(value, bytes):
            files.append(dict(_fields(value)))
        elif number == _EXIT_CODE and value:
            raise ValueError("the action failed")
    found = [file.get(_DIGEST) for file in files if file.get(_PATH) == OUTPUT.encode()]
    if len(found) != 1 or not isinstance(found[0], bytes):
        raise ValueError("it has no output, or several")
    digest = dict(_fields(found[0]))
    name, size = digest.get(_HASH), digest.get(_SIZE)
    if not isinstance(name, bytes) or not isinstance(size, int) or not _HEX.fullmatch(text := name.decode("ascii")):
        raise ValueError("it has no digest")
    return Blob(text, size)


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message: numbers and values."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            number, at = _read_varint(data, at)
            yield key >> 3, number
            continue
        if kind not in (_FIXED64, _BYTES, _FIXED32):
            raise ValueError("a field has an unknown type")
        size = 8 if kind == _FIXED64 else 4
        if kind == _BYTES:
            size, at = _read_varint(data, at)
        if at + size > len(data):
            raise ValueError("a field is cut off")
        yield key >> 3, data[at : at + size]
        at += size


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    number = 0
    for shift, byte in enumerate(data[at : at + _LONGEST]):
        number |= (byte & 127) << 7 * shift
        if byte < 128:
            return number, at + shift + 1
    raise ValueError("a number is cut off")


def _text(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    result = bytearray()
    while number > 127:
        result.append(number & 127 | 128)
        number >>= 7
    return bytes((*result, number))
