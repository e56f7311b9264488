"""A server of the Remote Execution API on the loopback interface, which may misbehave in any way, and the calls that it
got. Only what a cache has: ActionCache, ContentAddressableStorage, ByteStream, Capabilities."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Lock
from typing import Any, NamedTuple

import grpc
import zstandard

from pipeline.front.remote.channel import METHODS
from pipeline.front.remote.proto import byte_stream_pb2 as streams
from pipeline.front.remote.proto import remote_execution_pb2 as api

CHUNK = 65536


class Call(NamedTuple):
    """One call. `request`: of all messages, for `Write`."""

    name: str
    server: Server
    request: Any
    context: grpc.ServicerContext

    def usual(self) -> Any:
        """The right answer: an encoded message, or many."""
        return getattr(self.server, f"_{self.name}")(self)

    def abort(self, status: str, details: str = "") -> Any:
        """Ends with an error."""
        self.context.abort(grpc.StatusCode[status], details)

    def hang(self, *_: object) -> bytes:
        """Waits until the test ends, or the client does."""
        while self.context.is_active() and not self.server.ended.wait(0.02):
            pass
        return b""


Answer = Callable[[Call], Any]


class Server:
    """The server. `answers`: what it does in place of the usual, by method. `stored`: blobs by SHA-256. `results`:
    encoded results by the SHA-256 of their actions."""

    def __init__(
        self,
        answers: Mapping[str, Answer],
        *,
        zstd: bool = False,
        inline: bool = False,
        batch: int = 0,
        largest: int = 0,
        updates: bool = True,
        token: str = "",
        instance: str = "",
    ) -> None:
        self.answers = dict(answers)
        self.zstd, self.inline, self.batch, self.largest, self.updates = zstd, inline, batch, largest, updates
        self.token, self.instance = token, instance
        self.stored: dict[str, bytes] = {}
        self.results: dict[str, bytes] = {}
        self.calls: list[str] = []
        self.sent = self.received = 0  # bytes of messages
        self.metadata: list[dict[str, str | bytes]] = []
        self.resources: list[str] = []
        self.ended = Event()
        self._lock = Lock()
        self.port = 0

    @property
    def url(self) -> str:
        return f"grpc://127.0.0.1:{self.port}" + (f"/{self.instance}" if self.instance else "")

    def start(self, credentials: grpc.ServerCredentials | None = None) -> None:
        self.grpc = grpc.server(ThreadPoolExecutor(24), options=(("grpc.so_reuseport", 0),))
        self.grpc.add_generic_rpc_handlers((_Handler(self),))
        address = "127.0.0.1:0"
        self.port = (
            self.grpc.add_secure_port(address, credentials) if credentials else self.grpc.add_insecure_port(address)
        )
        self.grpc.start()

    def stop(self) -> None:
        self.ended.set()
        self.grpc.stop(0).wait()

    def seen(self, name: str, request: Any, context: grpc.ServicerContext) -> Call:
        with self._lock:
            self.calls.append(name)
            metadata = dict(context.invocation_metadata())
            self.metadata.append(metadata)
        if self.token and metadata.get("authorization") != f"Bearer {self.token}":
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "no")
        if getattr(request, "instance_name", self.instance) != self.instance:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "unknown instance")
        return Call(name, self, request, context)

    # ---- the usual

    def _GetCapabilities(self, call: Call) -> bytes:
        zstd = [api.Compressor.ZSTD] if self.zstd else []
        cache = api.CacheCapabilities(
            digest_functions=[api.DigestFunction.SHA256],
            action_cache_update_capabilities=api.ActionCacheUpdateCapabilities(update_enabled=self.updates),
            max_batch_total_size_bytes=self.batch,
            max_cas_blob_size_bytes=self.largest,
            supported_compressors=zstd,
            supported_batch_update_compressors=zstd,
        )
        versions = {"low_api_version": api.SemVer(major=2), "high_api_version": api.SemVer(major=2, minor=3)}
        return api.ServerCapabilities(cache_capabilities=cache, **versions).SerializeToString()

    def _GetActionResult(self, call: Call) -> bytes:
        data = self.results.get(call.request.action_digest.hash)
        if data is None:
            call.abort("NOT_FOUND")
        result = api.ActionResult.FromString(data or b"")
        if self.inline:
            for file in result.output_files:
                assert file.path in call.request.inline_output_files
                file.contents = self.stored[file.digest.hash]
        return result.SerializeToString()

    def _UpdateActionResult(self, call: Call) -> bytes:
        """As careful servers do: the action, its command and its inputs must be there, and the outputs."""
        digests = [call.request.action_digest]
        action = api.Action.FromString(self._of(call, digests[0]))
        digests += [action.command_digest, action.input_root_digest]
        command = api.Command.FromString(self._of(call, action.command_digest))
        root = api.Directory.FromString(self._of(call, action.input_root_digest))
        digests += [file.digest for file in root.files]
        result = call.request.action_result
        digests += [file.digest for file in result.output_files]
        paths = [file.path for file in result.output_files]
        if list(command.output_paths) != paths or list(command.output_files) != paths or not command.arguments:
            call.abort("INVALID_ARGUMENT", "the outputs are not those of the command")
        for digest in digests:
            self._of(call, digest)
        self.results[digests[0].hash] = result.SerializeToString()
        return self.results[digests[0].hash]

    def _of(self, call: Call, digest: Any) -> bytes:
        data = self.stored.get(digest.hash)
        if data is None or len(data) != digest.size_bytes:
            call.abort("FAILED_PRECONDITION", f"{digest.hash} is missing")
        return data or b""

    def _FindMissingBlobs(self, call: Call) -> bytes:
        missing = [digest for digest in call.request.blob_digests if digest.hash not in self.stored]
        return api.FindMissingBlobsResponse(missing_blob_digests=missing).SerializeToString()

    def _BatchUpdateBlobs(self, call: Call) -> bytes:
        responses = []
        for each in call.request.requests:
            data = unpacked(each.data) if each.compressor == api.Compressor.ZSTD else each.data
            right = self._store(each.digest.hash, each.digest.size_bytes, data)
            status = api.Status(code=0 if right else 3)
            responses.append(api.BatchUpdateBlobsResponse.Response(digest=each.digest, status=status))
        return api.BatchUpdateBlobsResponse(responses=responses).SerializeToString()

    def _store(self, name: str, size: int, data: bytes) -> bool:
        if (hashlib.sha256(data).hexdigest(), len(data)) != (name, size):
            return False
        self.stored[name] = data
        return True

    def _BatchReadBlobs(self, call: Call) -> bytes:
        responses = []
        for digest in call.request.digests:
            data = self.stored.get(digest.hash)
            response = api.BatchReadBlobsResponse.Response(digest=digest, data=data or b"")
            if data is None:
                response.status.code = 5
            elif self.zstd and api.Compressor.ZSTD in call.request.acceptable_compressors:
                response.data, response.compressor = packed(data), api.Compressor.ZSTD
            responses.append(response)
        return api.BatchReadBlobsResponse(responses=responses).SerializeToString()

    def _Read(self, call: Call) -> Iterator[bytes]:
        *head, name, size = call.request.resource_name.split("/")
        data = self.stored.get(name)
        if data is None or len(data) != int(size):
            call.abort("NOT_FOUND")
        assert data is not None
        data = data[call.request.read_offset :]
        kind = "compressed-blobs/zstd" if self.zstd else "blobs"
        if "/".join(head) != "/".join(filter(None, (self.instance, kind))):
            call.abort("INVALID_ARGUMENT", "/".join(head))
        yield from chunks(packed(data) if self.zstd else data)

    def _Write(self, call: Call) -> bytes:
        requests = list(call.request)
        self.resources.append(requests[0].resource_name)
        *head, name, size = requests[0].resource_name.split("/")
        data = b"".join(each.data for each in requests)
        sizes = [0]
        for each in requests:
            assert each.write_offset == sizes[-1]
            sizes.append(sizes[-1] + len(each.data))
        assert [each.finish_write for each in requests] == [False] * (len(requests) - 1) + [True]
        start = f"{self.instance}/uploads" if self.instance else "uploads"
        assert "/".join(head).startswith(start)
        plain = unpacked(data) if "compressed-blobs" in head else data
        if not self._store(name, int(size), plain):
            call.abort("INVALID_ARGUMENT", "another digest")
        return streams.WriteResponse(committed_size=len(data)).SerializeToString()


REQUESTS = {
    **{name: getattr(api, f"{name}Request") for name in METHODS if name not in ("Read", "Write")},
    "Read": streams.ReadRequest,
    "Write": streams.WriteRequest,
}


class _Handler(grpc.GenericRpcHandler):
    """Hands all calls to the server. Answers are bytes, right or not."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def service(self, details: Any) -> Any:
        name = details.method.rpartition("/")[2]
        if METHODS.get(name) != details.method:
            return None
        decode = REQUESTS[name].FromString
        server = self._server

        def counted(data: bytes) -> Any:
            server.received += len(data)
            return decode(data)

        def answer(request: Any, context: grpc.ServicerContext) -> Any:
            call = server.seen(name, request, context)
            return server.answers.get(name, Call.usual)(call)

        def one(request: Any, context: grpc.ServicerContext) -> bytes:
            data = answer(request, context)
            server.sent += len(data)
            return data

        def many(request: Any, context: grpc.ServicerContext) -> Iterator[bytes]:
            for data in answer(request, context):
                server.sent += len(data)
                yield data

        if name == "Read":
            return grpc.unary_stream_rpc_method_handler(many, counted)
        if name == "Write":
            return grpc.stream_unary_rpc_method_handler(one, counted)
        return grpc.unary_unary_rpc_method_handler(one, counted)


def chunks(data: bytes) -> Iterator[bytes]:
    """The messages that send data."""
    for at in range(0, len(data), CHUNK):
        yield streams.ReadResponse(data=data[at : at + CHUNK]).SerializeToString()


def packed(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def unpacked(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompressobj().decompress(data)


@contextmanager
def serving(
    answers: Mapping[str, Answer] = {},
    *,
    like: Server | None = None,
    credentials: grpc.ServerCredentials | None = None,
    **settings: Any,
) -> Iterator[Server]:
    """A server while the context lasts. `like`: another one, whose contents it has."""
    server = Server(answers, **settings)
    if like is not None:
        server.stored.update(like.stored)
        server.results.update(like.results)
    server.start(credentials)
    try:
        yield server
    finally:
        server.stop()
