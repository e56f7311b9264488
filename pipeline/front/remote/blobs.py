"""Blobs of one server of the Remote Execution API: small ones in a batch, large ones as a stream. Both are compressed
if the server has zstd."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import IO
from uuid import uuid4

from pipeline.front.remote.actions import digest_of, is_content
from pipeline.front.remote.channel import Channel, NotFound, as_text, refusal
from pipeline.front.remote.proto.byte_stream_pb2 import ReadRequest, ReadResponse, WriteRequest, WriteResponse
from pipeline.front.remote.proto.remote_execution_pb2 import (
    BatchReadBlobsRequest,
    BatchReadBlobsResponse,
    BatchUpdateBlobsRequest,
    BatchUpdateBlobsResponse,
    Compressor,
    DigestFunction,
    FindMissingBlobsRequest,
    FindMissingBlobsResponse,
)
from pipeline.front.remote.protocol import Blob, RemoteFailed, RemoteWrong
from pipeline.front.remote.server import Server
from pipeline.io import zstd

_PART = 1 << 19  # bytes of a message of a stream
_SHA256 = DigestFunction.SHA256
_OK, _NOT_FOUND, _ALREADY_EXISTS = 0, 5, 6  # of google.rpc.Code
_DENIED = (7, 16)
_KNOWN = -1  # what a server answers that has a compressed blob already


class Blobs:
    """The blobs of an instance. Errors as of `Channel.tried`; RemoteWrong for a blob that is another one."""

    def __init__(self, channel: Channel, instance: str, server: Server) -> None:
        self._channel = channel
        self._instance = instance
        self._server = server

    # ---- downloads

    def read(self, blob: Blob, file: IO[bytes], until: float) -> bool:
        """Writes a blob to an empty file. False if the server has it not."""
        if not self._server.batches(blob.size):
            return self._read_stream(blob, file, until)
        data = self._read_batch(blob, until)
        if data is None:
            return False
        if not is_content(blob, data):
            raise RemoteWrong("the archive has not the digest in its entry")
        file.write(data)
        return True

    def _read_batch(self, blob: Blob, until: float) -> bytes | None:
        """The content of a blob, which is not verified, in one message."""
        compressed, digest = self._server.streams_zstd, digest_of(blob)
        request = BatchReadBlobsRequest(
            instance_name=self._instance,
            digests=[digest],
            acceptable_compressors=[Compressor.ZSTD] if compressed else [],
            digest_function=_SHA256,
        )
        answer = self._channel.tried("BatchReadBlobs", request, BatchReadBlobsResponse, until)
        if len(answer.responses) != 1 or answer.responses[0].digest != digest:
            raise RemoteWrong("its answer to BatchReadBlobs is about other blobs")
        response = answer.responses[0]
        if response.status.code == _NOT_FOUND:
            return None
        _raise_unless_ok(response.status.code, response.status.message, upload=False)
        if response.compressor == Compressor.IDENTITY:
            return response.data
        if response.compressor != Compressor.ZSTD or not compressed:
            raise RemoteWrong("its answer is compressed in a way that was not asked for")
        return _up_to(blob.size, _decompressed(iter([response.data])))

    def _read_stream(self, blob: Blob, file: IO[bytes], until: float) -> bool:
        """Reads a blob as a stream; after a passing error, the rest of it."""
        name = self._resource("compressed-blobs/zstd" if self._server.streams_zstd else "blobs", blob)
        digest = sha256()

        def read(seconds: float) -> bool:
            if file.tell() < blob.size:
                request = ReadRequest(resource_name=name, read_offset=file.tell())
                for data in self._parts(self._channel.read("Read", request, ReadResponse, seconds)):
                    if file.tell() + len(data) > blob.size:
                        return False
                    digest.update(data)
                    file.write(data)
            return file.tell() == blob.size and digest.hexdigest() == blob.sha256

        try:
            right = self._channel.tried_work(read, until)
        except NotFound:
            return False
        if not right:
            raise RemoteWrong("the archive has not the digest in its entry")
        return True

    def _parts(self, answers: Iterator[ReadResponse]) -> Iterator[bytes]:
        """The content in a stream."""
        parts = (answer.data for answer in answers)
        return _decompressed(parts) if self._server.streams_zstd else parts

    # ---- uploads

    def write(
        self, blob: Blob, file: IO[bytes], others: dict[str, bytes], until: float, *, replaces: bool = False
    ) -> None:
        """Stores the blob in a file, and others, by their SHA-256, but what the server has. `replaces`: as for
        `Remote.put`."""
        missing = self._missing({blob.sha256: blob.size, **{name: len(data) for name, data in others.items()}}, until)
        small = {name: data for name, data in others.items() if name in missing}
        if replaces or blob.sha256 in missing:
            if self._server.batches(blob.size + sum(map(len, small.values()))) and not self._server.prefers_streams:
                small[blob.sha256] = file.read()
            else:
                self._write_stream(blob, file, until)
        if small:
            self._write_batch(small, until)

    def _missing(self, sizes: dict[str, int], until: float) -> set[str]:
        """Which of the blobs, sizes by SHA-256, the server has not."""
        digests = [digest_of(Blob(name, size)) for name, size in sizes.items()]
        request = FindMissingBlobsRequest(instance_name=self._instance, blob_digests=digests, digest_function=_SHA256)
        answer = self._channel.tried("FindMissingBlobs", request, FindMissingBlobsResponse, until, upload=True)
        return {digest.hash for digest in answer.missing_blob_digests}

    def _write_batch(self, blobs: dict[str, bytes], until: float) -> None:
        """Stores blobs, by their SHA-256, in one message."""
        compressed = self._server.batches_zstd
        requests = [
            BatchUpdateBlobsRequest.Request(
                digest=digest_of(Blob(name, len(data))),
                data=zstd.compress(data) if compressed else data,
                compressor=Compressor.ZSTD if compressed else Compressor.IDENTITY,
            )
            for name, data in blobs.items()
        ]
        request = BatchUpdateBlobsRequest(instance_name=self._instance, requests=requests, digest_function=_SHA256)
        answer = self._channel.tried("BatchUpdateBlobs", request, BatchUpdateBlobsResponse, until, upload=True)
        stored = set()
        for each in answer.responses:
            if each.status.code != _ALREADY_EXISTS:
                _raise_unless_ok(each.status.code, each.status.message, upload=True)
            stored.add(each.digest.hash)
        if not stored >= blobs.keys():
            raise RemoteFailed("its answer to BatchUpdateBlobs is about other blobs")

    def _write_stream(self, blob: Blob, file: IO[bytes], until: float) -> None:
        """Stores the blob in a file as a stream; after a passing error, from its beginning."""
        compressed = self._server.streams_zstd

        def write(seconds: float) -> bool:
            file.seek(0)
            name = self._resource(f"uploads/{uuid4()}/{'compressed-blobs/zstd' if compressed else 'blobs'}", blob)
            sent = [0]
            parts = zstd.compressed(_parts(file), _PART, blob.size) if compressed else _parts(file)
            requests = _requests(name, parts, sent)
            size = self._channel.write("Write", requests, WriteResponse, seconds).committed_size
            return size == blob.size or (compressed and size in (sent[0], _KNOWN))

        if not self._channel.tried_work(write, until, upload=True):
            raise RemoteFailed("it has stored another number of bytes than were sent")

    def _resource(self, kind: str, blob: Blob) -> str:
        """The name of a blob in a stream."""
        return "/".join([*filter(None, [self._instance]), kind, blob.sha256, str(blob.size)])


def _requests(name: str, parts: Iterator[bytes], sent: list[int]) -> Iterator[WriteRequest]:
    """The messages that send the parts of a blob. `sent`: counts the bytes."""
    part = next(parts, b"")
    while True:
        following = next(parts, None)
        end = following is None
        yield WriteRequest(resource_name=name, write_offset=sent[0], data=part, finish_write=end)
        sent[0] += len(part)
        if following is None:
            return
        part = following


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    while data := file.read(_PART):
        yield data


def _decompressed(parts: Iterator[bytes]) -> Iterator[bytes]:
    try:
        yield from zstd.decompressed(parts)
    except ValueError:
        raise RemoteWrong("a compressed blob is damaged") from None


def _up_to(size: int, parts: Iterator[bytes]) -> bytes:
    """Joined parts, and nothing of what follows the first one that is too much."""
    result = bytearray()
    for part in parts:
        result += part
        if len(result) > size:
            break
    return bytes(result)


def _raise_unless_ok(code: int, message: str, *, upload: bool) -> None:
    if code in _DENIED:
        raise RemoteFailed(refusal(upload=upload))
    if code != _OK:
        raise RemoteFailed(f"status {code}: {as_text(message)}".removesuffix(": "))
