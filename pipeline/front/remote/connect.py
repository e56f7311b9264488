"""The client for a shared cache, by the scheme of its URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.front.remote.protocol import Remote, RemoteFailed

if TYPE_CHECKING:
    from pipeline.front.settings.remote import RemoteSettings


def connect(at: RemoteSettings) -> Remote:
    """A client, which connects when it is first used. RemoteFailed if the token cannot be read, or a file with
    certificates, or gRPC not be loaded."""
    if not at.grpc:
        from pipeline.front.remote.http_cache import HttpCache

        return HttpCache(at)
    try:
        from pipeline.front.remote.grpc_cache import GrpcCache
    except Exception as error:  # also protobuf's own, for a version that is too old
        reason = " ".join(str(error).split())[:200]
        raise RemoteFailed(f"gRPC cannot be loaded ({reason}): pip install 'gradmill[remote]'") from None
    return GrpcCache(at)
