"""Entries of shared caches: `ActionResult`, written by hand, and read as any server may write it."""

from __future__ import annotations

from random import Random

import pytest

from pipeline.front.remote.action_result import Blob, decode, encode

SHA256 = "0123456789abcdef" * 4
BLOB = Blob(SHA256, 8_131_846)

# output_files { path: "gradmill-store.zip" digest { hash: "0123…" size_bytes: 8131846 } }
ENCODED = (
    b"\x12\x5d"
    b"\x0a\x12gradmill-store.zip"
    b"\x12\x47"
    b"\x0a\x40" + SHA256.encode() + b"\x10\x86\xaa\xf0\x03"
)  # fmt: skip

WORKER = b"\x4a\x0b\x0a\x0910.0.0.17"  # execution_metadata { worker: "10.0.0.17" }, which bazel-remote adds
OTHER = b"\x12\x0f\x0a\x05a.log\x12\x06\x0a\x04abcd"  # another output file


def test_an_entry_is_encoded_as_protocol_buffers() -> None:
    assert encode(BLOB) == ENCODED


@pytest.mark.parametrize("size", [1, 127, 128, 16_383, 16_384, (1 << 31) - 1, 1 << 31, (1 << 63) - 1])
def test_an_entry_is_decoded_as_it_was_encoded(size: int) -> None:
    assert decode(encode(Blob(SHA256, size))) == Blob(SHA256, size)


@pytest.mark.parametrize(
    "data",
    [
        ENCODED + WORKER,
        WORKER + ENCODED,
        OTHER + ENCODED,
        ENCODED + b"\x20\x00",  # exit_code: 0
        ENCODED + b"\x2a\x02hi",  # stdout_raw: "hi"
        ENCODED + b"\xf9\x01" + bytes(8) + b"\xf5\x01" + bytes(4),  # two unknown fields
    ],
    ids=["metadata", "metadata first", "another file", "an exit code", "standard output", "unknown fields"],
)
def test_other_fields_make_no_difference(data: bytes) -> None:
    assert decode(data) == BLOB


@pytest.mark.parametrize(
    "data",
    [
        b"",
        OTHER,
        ENCODED + ENCODED,
        ENCODED + b"\x20\x01",  # exit_code: 1
        ENCODED + b"\x0b",  # a group
        ENCODED + b"\x80" * 11,
        ENCODED + b"\x09\x00",
        ENCODED.replace(b"zip", b"tar"),
        ENCODED.replace(b"abcdef", b"ABCDEF"),
        ENCODED.replace(b"abcdef", b"\xff" * 6),
        b"\x10\x05",  # output_files as a number
        b"\x12\x14\x0a\x12gradmill-store.zip",  # no digest
        b"\x12\x16\x0a\x12gradmill-store.zip\x10\x05",  # the digest is a number
        b"\x12\x18\x0a\x12gradmill-store.zip\x12\x02\x08\x05",  # the hash is a number
    ],
    ids=repr,
)
def test_what_is_no_result_of_a_first_build_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decode(data)


def test_any_bytes_are_an_entry_or_a_value_error() -> None:
    draw = Random(0)
    for length in range(len(ENCODED)):
        assert_entry_or_error(ENCODED[:length])
    for _ in range(3000):
        data = bytearray(ENCODED)
        for _ in range(draw.randrange(1, 4)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        assert_entry_or_error(bytes(data))


def assert_entry_or_error(data: bytes) -> None:
    try:
        blob = decode(data)
    except ValueError:
        return
    assert len(blob.sha256) == 64, data
    assert set(blob.sha256) <= set("0123456789abcdef"), data
