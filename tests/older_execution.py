"""Version 2.0 of the Remote Execution API in front of a server that has 2.1 and newer, as buildbox-casd.

The Bazels that npm and Debian have speak 2.0: a command names its `output_files`, where newer ones have `output_paths`.
All other calls are handed on as they are.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc

api: Any = grpc.protos("remote_execution.proto")  # next to this file; the package grpcio-tools compiles it
_STREAMED_REQUESTS = ("Write",)
_STREAMED_RESPONSES = ("Read", "Execute", "WaitExecution", "GetTree")
_OPTIONS = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))
_BATCH = 2_000_000  # bytes; a server takes messages of 4 MB
_CAS = "/build.bazel.remote.execution.v2.ContentAddressableStorage/"
_RESULTS = "/build.bazel.remote.execution.v2.ActionCache/"


class Proxy(grpc.GenericRpcHandler):
    """Hands calls on to a channel. `calls`: how many there were, by the name of the method."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel
        self.calls: Counter[str] = Counter()

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        path = details.method
        name = path.rpartition("/")[2]
        kind = "stream_" if name in _STREAMED_REQUESTS else "unary_"
        kind += "stream" if name in _STREAMED_RESPONSES else "unary"
        forward = getattr(self._channel, kind)(path)
        metadata = [(key, value) for key, value in details.invocation_metadata if key.endswith("-bin")]

        def call(request: Any, context: grpc.ServicerContext) -> Any:
            self.calls[name] += 1
            try:
                response = forward(request, metadata=metadata)
                return _older(response) if name == "GetCapabilities" else response
            except grpc.RpcError as error:
                context.abort(error.code(), error.details())

        def stream(request: Any, context: grpc.ServicerContext) -> Iterator[bytes]:
            self.calls[name] += 1
            try:
                if name == "Execute":
                    yield from self._execute(request, forward)
                else:
                    yield from forward(request, metadata=metadata)
            except grpc.RpcError as error:
                context.abort(error.code(), error.details())

        make = getattr(grpc, f"{kind}_rpc_method_handler")
        handler: grpc.RpcMethodHandler = make(stream if kind.endswith("stream") else call)
        return handler

    def _execute(self, request: bytes, forward: Any) -> Iterator[bytes]:
        """Executes an action with `output_paths`, and caches the result for the action as it was."""
        wanted = api.ExecuteRequest.FromString(request)
        digest = api.Digest()
        digest.CopyFrom(wanted.action_digest)
        action = api.Action.FromString(self._read(digest))
        command = api.Command.FromString(self._read(action.command_digest))
        command.output_paths.extend(command.output_files)
        del command.output_files[:]
        action.command_digest.CopyFrom(self._write(command))
        wanted.action_digest.CopyFrom(self._write(action))
        last = b""
        for last in forward(wanted.SerializeToString()):
            yield last
        result = api.ExecuteResponse.FromString(api.Operation.FromString(last).response.value).result
        if result.output_files and not result.exit_code:
            update = api.UpdateActionResultRequest(action_digest=digest, action_result=result)
            self._channel.unary_unary(f"{_RESULTS}UpdateActionResult")(update.SerializeToString())

    def _read(self, digest: Any) -> bytes:
        request = api.BatchReadBlobsRequest(digests=[digest]).SerializeToString()
        data = self._channel.unary_unary(f"{_CAS}BatchReadBlobs")(request)
        return bytes(api.BatchReadBlobsResponse.FromString(data).responses[0].data)

    def _write(self, message: Any) -> Any:
        blob = _blob(message.SerializeToString())
        self._store([blob])
        return blob["digest"]

    def _store(self, blobs: Iterable[Any]) -> None:
        request = api.BatchUpdateBlobsRequest(requests=list(blobs))
        self._channel.unary_unary(f"{_CAS}BatchUpdateBlobs")(request.SerializeToString())

    def store(self, paths: Iterable[Path]) -> None:
        """Puts files into the server in few calls. Bazel uploads each in a call, all at once, and this process hands
        some hundred a second on."""
        blobs: list[Any] = []
        size = 0
        for path in paths:
            blob = _blob(path.read_bytes())
            if size + blob["digest"].size_bytes > _BATCH:
                self._store(blobs)
                blobs, size = [], 0
            blobs.append(blob)
            size += blob["digest"].size_bytes
        self._store(blobs)


def _blob(data: bytes) -> Any:
    """A file, or a message, as a server stores it."""
    return {"digest": api.Digest(hash=hashlib.sha256(data).hexdigest(), size_bytes=len(data)), "data": data}


def _older(data: bytes) -> bytes:
    """The capabilities of a server that speaks version 2.0 as well."""
    capabilities = api.ServerCapabilities.FromString(data)
    capabilities.low_api_version.CopyFrom(api.SemVer(major=2))
    return bytes(capabilities.SerializeToString())


@contextmanager
def serving(url: str) -> Iterator[tuple[str, Proxy]]:
    """The URL of a proxy for the server at `url`, and the proxy, while the context lasts."""
    with grpc.insecure_channel(url.removeprefix("grpc://"), options=_OPTIONS) as channel:
        proxy = Proxy(channel)
        server = grpc.server(ThreadPoolExecutor(64), handlers=(proxy,), options=_OPTIONS)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield f"grpc://127.0.0.1:{port}", proxy
        finally:
            server.stop(0).wait()
