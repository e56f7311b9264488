"""What a server of the Remote Execution API can do, as it says."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from pipeline.front.remote.channel import Channel, is_status
from pipeline.front.remote.proto.remote_execution_pb2 import (
    Compressor,
    DigestFunction,
    GetCapabilitiesRequest,
    ServerCapabilities,
)
from pipeline.front.remote.protocol import RemoteFailed

_VERSION = 2
_BATCH = 4_000_000  # bytes of the blobs in one message: servers accept 4 MiB
_ROOM = 64_000  # of those, for what is around the blobs


class Server(Struct, frozen=True):
    """What a server can do."""

    accepts_results: bool = True
    largest_batch: int = _BATCH  # bytes of blobs in one message
    largest: int = 0  # bytes of a blob; 0: it does not say
    streams_zstd: bool = False  # blobs that are read, and streams that are written
    batches_zstd: bool = False  # blobs that are written in one message

    def batches(self, size: int) -> bool:
        """Whether blobs of so many bytes together fit into one message."""
        return size <= self.largest_batch - _ROOM

    @property
    def prefers_streams(self) -> bool:
        """Whether only streams are compressed."""
        return self.streams_zstd and not self.batches_zstd


def start(channel: Channel, instance: str, seconds: float) -> Callable[[], ServerCapabilities]:
    """Asks for it, without waiting."""
    return channel.start("GetCapabilities", GetCapabilitiesRequest(instance_name=instance), ServerCapabilities, seconds)


def read_server(answer: Callable[[], ServerCapabilities]) -> Server:
    """What the answer says. RemoteFailed if the server has another version of the protocol, or no SHA-256."""
    try:
        said = answer()
    except Exception as error:
        if is_status(error, "UNIMPLEMENTED"):
            return Server()
        raise
    low, high = said.low_api_version.major, said.high_api_version.major
    if high and not low <= _VERSION <= high:
        raise RemoteFailed(f"it has version {high} of the protocol, not {_VERSION}")
    if not said.HasField("cache_capabilities"):
        return Server()
    cache = said.cache_capabilities
    if cache.digest_functions and DigestFunction.SHA256 not in cache.digest_functions:
        raise RemoteFailed("it has no SHA-256")
    batch = cache.max_batch_total_size_bytes
    return Server(
        accepts_results=cache.action_cache_update_capabilities.update_enabled,
        largest_batch=min(batch, _BATCH) if batch > 0 else _BATCH,
        largest=max(cache.max_cas_blob_size_bytes, 0),
        streams_zstd=Compressor.ZSTD in cache.supported_compressors,
        batches_zstd=Compressor.ZSTD in cache.supported_batch_update_compressors,
    )
