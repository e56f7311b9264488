"""A shared cache behind the Remote Execution API, version 2: ActionCache, ContentAddressableStorage, ByteStream.

A hit is two round trips: the result, asked for together with what the server can do, then the archive; one if the
result has the archive in it. An upload ends with the result, so that none names what the server has not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from pipeline.front.remote import limits
from pipeline.front.remote.actions import described, output_of, result_of
from pipeline.front.remote.blobs import Blobs
from pipeline.front.remote.channel import Channel, NotFound, refusal
from pipeline.front.remote.proto.remote_execution_pb2 import (
    ActionResult,
    DigestFunction,
    GetActionResultRequest,
    ServerCapabilities,
    UpdateActionResultRequest,
)
from pipeline.front.remote.protocol import OUTPUT, Blob, RemoteFailed
from pipeline.front.remote.server import Server, read_server, start
from pipeline.front.settings.remote import RemoteSettings
from pipeline.io.files import create_file


class GrpcCache:
    """One server. RemoteFailed as of `Channel`."""

    def __init__(self, at: RemoteSettings) -> None:
        self._channel = Channel(at)
        self._instance = at.path.strip("/")
        self._server: Server | None = None
        self._asked: list[Callable[[], ServerCapabilities]] = []  # what it can do, before the answer is needed
        self._contents: tuple[Blob, bytes] | None = None  # of a result that has its blob in it

    def open(self) -> None:
        """As in `Remote`."""
        if self._server is None and not self._asked:
            self._asked.append(start(self._channel, self._instance, limits.FIND))

    def find(self, key: str) -> Blob | None:
        """As in `Remote`."""
        until = time.monotonic() + limits.FIND
        self.open()
        request = GetActionResultRequest(
            instance_name=self._instance,
            action_digest=described(key).digest,
            inline_output_files=[OUTPUT],
            digest_function=DigestFunction.SHA256,
        )
        try:
            result = self._channel.tried("GetActionResult", request, ActionResult, until)
        except NotFound:
            return None
        self._known(until)
        blob, contents = output_of(result)
        self._contents = (blob, contents) if contents else None
        return blob

    def fetch(self, blob: Blob, path: str) -> bool:
        """As in `Remote`."""
        until = time.monotonic() + limits.FETCH
        with create_file(path) as file:
            if self._contents is not None and self._contents[0] == blob:
                file.write(self._contents[1])
                return True
            return self._blobs(until).read(blob, file, until)

    def check_uploads(self) -> None:
        """As in `Remote`."""
        if not self._known(time.monotonic() + limits.FIND).accepts_results:
            raise RemoteFailed(refusal(upload=True))

    def put(self, keys: Sequence[str], blob: Blob, path: str, *, replaces: bool = False) -> None:
        """As in `Remote`."""
        until = time.monotonic() + limits.PUT
        largest = self._known(until).largest
        if largest and blob.size > largest:
            raise RemoteFailed(f"it accepts {largest} bytes at most, and the archive has {blob.size}")
        actions = [described(key) for key in keys]
        others = {name: data for action in actions for name, data in action.blobs.items()}
        with open(path, "rb") as file:
            self._blobs(until).write(blob, file, others, until, replaces=replaces)
        for action in actions:
            request = UpdateActionResultRequest(
                instance_name=self._instance,
                action_digest=action.digest,
                action_result=result_of(blob),
                digest_function=DigestFunction.SHA256,
            )
            self._channel.tried("UpdateActionResult", request, ActionResult, until, upload=True)

    def close(self) -> None:
        """As in `Remote`."""
        self._channel.close()

    def _known(self, until: float) -> Server:
        """What the server can do."""

        def work(seconds: float) -> Server:
            return read_server(self._asked.pop() if self._asked else start(self._channel, self._instance, seconds))

        if self._server is None:
            self._server = self._channel.tried_work(work, until)
        return self._server

    def _blobs(self, until: float) -> Blobs:
        return Blobs(self._channel, self._instance, self._known(until))
