"""`ActionResult` of Bazel's Remote Execution API, as Protocol Buffers encode it: servers check entries against it.

message ActionResult { repeated OutputFile output_files = 2; int32 exit_code = 4; … }
message OutputFile { string path = 1; Digest digest = 2; … }
message Digest { string hash = 1; int64 size_bytes = 2; }
"""

from __future__ import annotations

import re

from msgspec import Struct

from pipeline.front.remote.protobuf import bytes_field, fields, number_field

_OUTPUT = "gradmill-store.zip"  # the one output of an action
_FILES, _EXIT_CODE = 2, 4
_PATH, _DIGEST = 1, 2
_HASH, _SIZE = 1, 2
_HEX = re.compile("[0-9a-f]{64}")


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
