"""The wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding), for messages that are read
and written without that library: numbers as varints, strings and messages as bytes."""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST = 10  # bytes of a varint


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
