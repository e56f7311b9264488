"""gRPC calls to one server: deadlines, further tries after passing errors, and errors in words.

The server is not trusted to answer, to end, or to send what the protocol has. Proxies of the environment are not used.
"""

from __future__ import annotations

import os
import re
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import SystemRandom
from typing import Any, TypeVar

from google.protobuf.message import DecodeError, Message

from pipeline.front.remote import limits
from pipeline.front.remote.proto import byte_stream_pb2, remote_execution_pb2
from pipeline.front.remote.protocol import RemoteFailed, RemoteWrong
from pipeline.front.remote.token import read_token
from pipeline.front.settings.remote import RemoteSettings
from pipeline.io.files import read_file

_QUIET = {"GRPC_VERBOSITY": "NONE"}  # gRPC's own messages: a run reports errors in one line


@contextmanager
def _quiet() -> Iterator[None]:
    """gRPC reads these variables of the environment when it is loaded, and when its first channel is opened."""
    missing = [name for name in _QUIET if name not in os.environ]
    os.environ.update({name: _QUIET[name] for name in missing})
    try:
        yield
    finally:
        for name in missing:
            del os.environ[name]


with _quiet():
    import grpc

METHODS = {
    method.name: f"/{service.full_name}/{method.name}"
    for module in (remote_execution_pb2, byte_stream_pb2)
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
_PAUSES = (0.2, 0.5)  # seconds, before the second and the third try; more or less, so that a fleet does not march
_PASSING = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.ABORTED)
_DENIED = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)
_NEVER = float("inf")
_SHORTEST = 0.01  # seconds for a call
_MESSAGE = 1 << 24  # bytes of one message, at most
_WINDOW = 1 << 23  # bytes that a server may send ahead: a blob is one round trip, however long that takes
_CERTIFICATES = 1 << 24  # bytes of a file with certificates, at most
_LONGEST = 2000  # characters of what a server says, to look at
_DETAILS = 200  # of those, to print
_BEGIN = b"-----BEGIN CERTIFICATE-----"
_M = TypeVar("_M", bound=Message)
_T = TypeVar("_T")


class NotFound(RemoteFailed):
    """The server has no such thing."""


class Channel:
    """The connection to one server. RemoteFailed if the token cannot be read, or the certificates."""

    def __init__(self, at: RemoteSettings) -> None:
        self._metadata = (("authorization", f"Bearer {read_token(at.token)}"),) if at.token else ()
        options = {
            "grpc.primary_user_agent": "gradmill",
            "grpc.enable_http_proxy": 0,
            "grpc.max_receive_message_length": _MESSAGE,
            "grpc.http2.lookahead_bytes": _WINDOW,
            "grpc.min_reconnect_backoff_ms": int(limits.CONNECT * 1000),  # how long connecting may take, too
            "grpc.initial_reconnect_backoff_ms": 100,
        }
        host = f"[{at.host}]" if ":" in at.host else at.host
        target = f"dns:///{host}:{at.port or 443}"  # a host may be called as another of gRPC's schemes
        with _quiet():
            if at.tls:
                credentials = grpc.ssl_channel_credentials(_certificates(at.ca))
                self._channel = grpc.secure_channel(target, credentials, tuple(options.items()))
            else:
                self._channel = grpc.insecure_channel(target, tuple(options.items()))

    def close(self) -> None:
        """Ends the connection, and all calls."""
        self._channel.close()

    # ---- calls, as `work` for `tried_work`

    def start(self, name: str, request: Message, answer: type[_M], seconds: float) -> Callable[[], _M]:
        """Sends a request. The result waits for the answer."""
        method: Any = self._channel.unary_unary(METHODS[name])
        future = method.future(request.SerializeToString(), timeout=seconds, metadata=self._metadata)
        return lambda: _decoded(name, future.result(), answer)

    def read(self, name: str, request: Message, answer: type[_M], seconds: float) -> Iterator[_M]:
        """The answers to a request for many."""
        method: Any = self._channel.unary_stream(METHODS[name])
        call = method(request.SerializeToString(), timeout=seconds, metadata=self._metadata)
        try:
            for data in call:
                yield _decoded(name, data, answer)
        finally:
            call.cancel()

    def write(self, name: str, requests: Iterator[Message], answer: type[_M], seconds: float) -> _M:
        """The answer to many requests."""
        method: Any = self._channel.stream_unary(METHODS[name])
        parts = (request.SerializeToString() for request in requests)
        return _decoded(name, method(parts, timeout=seconds, metadata=self._metadata), answer)

    # ---- tries

    def tried(self, name: str, request: Message, answer: type[_M], until: float, *, upload: bool = False) -> _M:
        """The answer to a request, in as many tries as `tried_work` takes."""
        return self.tried_work(lambda seconds: self.start(name, request, answer, seconds)(), until, upload=upload)

    def tried_work(self, work: Callable[[float], _T], until: float, *, upload: bool = False) -> _T:
        """The result of `work`, which gets the seconds that are left, and is tried again after a passing error.
        RemoteFailed after the last try, or after another error; NotFound is one. `until`: of `time.monotonic`."""
        pauses = [*_PAUSES]
        while True:
            try:
                return work(max(_SHORTEST, until - time.monotonic()))
            except grpc.RpcError as error:
                pause = pauses.pop(0) * SystemRandom().uniform(0.75, 1.25) if pauses else _NEVER
                if error.code() not in _PASSING or time.monotonic() + pause >= until:
                    raise _as_failure(error, upload=upload) from None
                time.sleep(pause)


def is_status(error: Exception, name: str) -> bool:
    """Whether an error of a call is of this status, as in `NOT_FOUND`."""
    return isinstance(error, grpc.RpcError) and error.code() is grpc.StatusCode[name]


def as_text(details: str) -> str:
    """What a server says, on one line that is not too long."""
    text = "".join(each if each.isprintable() else " " for each in details[:_LONGEST])
    return " ".join(text.split())[:_DETAILS]


def refusal(*, upload: bool) -> str:
    """What is said of a server that denies something."""
    what = "uploads: write remote_upload=0" if upload else "access: name the token with remote_token=FILE"
    return f"it refuses {what}"


def _decoded(name: str, data: bytes, answer: type[_M]) -> _M:
    try:
        return answer.FromString(data)
    except DecodeError:
        raise RemoteWrong(f"its answer to {name} is damaged") from None


def _certificates(path: str) -> bytes | None:
    """The certificates of authorities to trust; None for gRPC's way to find the system's."""
    path = path or os.environ.get(ssl.get_default_verify_paths().openssl_cafile_env, "")
    if not path:
        return None
    data = read_file(path, _CERTIFICATES)
    if not data or _BEGIN not in data:
        raise RemoteFailed(f"{path} has no certificate")
    return data


def _as_failure(error: Any, *, upload: bool) -> RemoteFailed:
    """An error of a call, with its reason in words."""
    code, said = error.code(), error.details() or ""
    details = as_text(_NO_CONNECTION.sub("", said))
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return RemoteFailed("no answer in time")
    if code is grpc.StatusCode.CANCELLED:
        return RemoteFailed("it has cancelled the call")
    if code is grpc.StatusCode.NOT_FOUND:
        return NotFound(f"it does not know the instance, or what was asked for: {details}".removesuffix(": "))
    if code in _DENIED:
        return RemoteFailed(f"{code.name}, {refusal(upload=upload)}")
    if code is grpc.StatusCode.UNAVAILABLE:
        reason = next((reason for part, reason in _REASONS.items() if part in said[:_LONGEST]), "")
        if reason:
            return RemoteFailed(reason)
    return RemoteFailed(f"{code.name}: {details}".removesuffix(": "))


# How gRPC begins what it says of a connection that fails.
_NO_CONNECTION = re.compile(r"^failed to connect to all addresses; last error: \w+: [\w.:\[\]%]+: ")
# What it goes on with, in part, and what that means.
_REASONS = {
    "CERTIFICATE_VERIFY_FAILED": "its certificate is not valid",
    "Hostname Verification Check failed": "its certificate is not valid: it is for another name",
    "WRONG_VERSION_NUMBER": "TLS: it does not speak TLS",
    "ls handshake failed": "TLS: the handshake failed",
    "sl handshake failed": "TLS: the handshake failed",
    "Connection refused": "Connection refused",
    "DNS resolution failed": "its name is not known",
    "Domain name not found": "its name is not known",
    "timed out": "no connection in time",
    "Timeout occurred": "no connection in time",
}
