"""A shared cache behind Bazel's simple HTTP protocol: GET and PUT of /ac/<sha256> and /cas/<sha256>, and HEAD.

The server is not trusted to answer, to end, or to return what was asked for. Redirects are not followed: tokens go to
the named server only. Transfers are limited in time: what takes longer than the work that it saves is of no use.
"""

from __future__ import annotations

import signal
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from threading import Thread
from typing import IO, TypeVar

from pipeline.front.remote import limits
from pipeline.front.remote.action_result import Blob, decode, encode
from pipeline.front.remote.limits import RemoteFailed, RemoteWrong
from pipeline.front.settings.remote import RemoteSettings
from pipeline.io.files import create_file, read_file

_ENTRY = 1 << 16  # bytes of an entry, at most
_TOKEN = 1 << 14  # bytes of the file with the token, at most
_PART = 1 << 18
_UNKNOWN = (404, 410)
_DENIED = (401, 403)
_T = TypeVar("_T")


class HttpCache:
    """One server: blobs by the keys of what makes them, which are SHA-256 in hexadecimal. RemoteFailed if the token
    cannot be read. Each method ends within a limited time, and raises RemoteFailed, RemoteWrong, or for a local file
    OSError."""

    def __init__(self, at: RemoteSettings) -> None:
        self._at = at
        self._headers = {"User-Agent": "gradmill", "Accept": "*/*"}
        if at.token:
            self._headers["Authorization"] = f"Bearer {_read_token(at.token)}"
        self._given_up = False
        self._connection: HTTPConnection | None = None
        self._opening: Thread | None = None
        self._refused: Exception | None = None  # why it could not be opened

    def open(self) -> None:
        """Begins to connect, and does not wait."""

        def run() -> None:
            _block_sigpipe()
            try:
                self._connect()
            except Exception as error:  # the first request reports it
                self._refused = error

        self._opening = Thread(target=run, daemon=True)
        self._opening.start()

    def find(self, key: str) -> Blob | None:
        """The result of the action with a key. None if the server does not know the action."""
        data = self._within(limits.FIND, lambda: self._entry(key))
        if data is None:
            return None
        try:
            blob = decode(data)
        except ValueError as error:
            raise RemoteWrong(f"its entry is damaged: {error}") from None
        if not 0 < blob.size <= limits.LARGEST:
            raise RemoteWrong(f"its entry is of {blob.size} bytes")
        return blob

    def fetch(self, blob: Blob, path: str) -> bool:
        """Writes a blob to a new file. False if the server no longer has it. The size and the SHA-256 are verified."""
        with create_file(path) as file:
            return self._within(limits.FETCH, lambda: self._fetch(blob, file))

    def put(self, keys: Sequence[str], blob: Blob, path: str, *, replaces: bool = False) -> None:
        """Stores the blob in a file, unless the server has it, then that it is the result of the actions with these
        keys. `replaces`: what the server has may be damaged, or missing although it says otherwise; it is sent."""
        with open(path, "rb") as file:
            self._within(limits.PUT, lambda: self._put(keys, blob, None if not replaces and self._has(blob) else file))

    def close(self) -> None:
        """Ends the connection."""
        if self._connection is not None and not self._given_up:
            self._connection.close()

    # ---- requests

    def _entry(self, key: str) -> bytes | None:
        response = self._request("GET", f"/ac/{key}")
        if response is None:
            return None
        data = response.read(_ENTRY + 1)
        if len(data) > _ENTRY:
            raise RemoteWrong("its entry is too large")
        if response.length:
            raise RemoteFailed("the answer is cut off")
        return data

    def _fetch(self, blob: Blob, file: IO[bytes]) -> bool:
        response = self._request("GET", f"/cas/{blob.sha256}")
        if response is None:
            return False
        size, digest = 0, sha256()
        while size <= blob.size and (data := response.read(min(_PART, blob.size - size + 1))):
            size += len(data)
            digest.update(data)
            file.write(data)
        if response.length and size <= blob.size:
            raise RemoteFailed("the answer is cut off")
        if (size, digest.hexdigest()) != (blob.size, blob.sha256):
            raise RemoteWrong("the archive does not match the digest in its entry")
        return True

    def _has(self, blob: Blob) -> bool:
        """Whether the server answers that it has a blob. Not every server knows HEAD, and some send a body as for a
        GET: so no error counts, and the connection is closed."""
        connection = self._connect()
        try:
            connection.request("HEAD", f"{self._at.path}/cas/{blob.sha256}", headers=self._headers)
            response = connection.getresponse()
            return response.status == 200 and response.getheader("Content-Length") == str(blob.size)
        except (OSError, HTTPException):
            if self._given_up:
                raise
            return False
        finally:
            connection.close()
            self._connection = None

    def _put(self, keys: Sequence[str], blob: Blob, file: IO[bytes] | None) -> None:
        """Stores an entry for each key and before them, if there is a file, the blob in it."""
        if file is not None:
            self._request("PUT", f"/cas/{blob.sha256}", file, blob.size)
        entry = encode(blob)
        for key in keys:
            self._request("PUT", f"/ac/{key}", entry, len(entry))

    def _request(
        self, method: str, name: str, body: IO[bytes] | bytes | None = None, size: int = 0
    ) -> HTTPResponse | None:
        """The response to a request that succeeded, to read if it is a GET. None if the server has no such thing."""
        connection = self._connect()
        headers = self._headers
        if body is not None:
            headers = {**headers, "Content-Type": "application/octet-stream", "Content-Length": str(size)}
        try:
            connection.request(method, f"{self._at.path}{name}", body, headers)
        except (BrokenPipeError, ConnectionResetError):
            if body is None:
                raise
            # A server that refuses a body answers before it was sent, and closes.
        response = connection.getresponse()
        status = response.status
        if method == "GET" and status in _UNKNOWN:
            self._rest(response)
            return None
        if not 200 <= status < 300 or (method == "GET" and status != 200):
            raise RemoteFailed(_refusal(method, status))
        if method == "PUT":
            self._rest(response)
        return response

    def _rest(self, response: HTTPResponse) -> None:
        """Reads the rest of an answer, so that the connection serves another request; closes it if there is much."""
        response.read(_ENTRY)
        if not response.isclosed():
            response.close()
            self._connection = None

    def _connect(self) -> HTTPConnection:
        connection = self._connection
        if connection is None:
            at, port = self._at, self._at.port or None
            if at.tls:
                context = _context(at.ca)
                connection = HTTPSConnection(at.host, port, timeout=limits.CONNECT, context=context, blocksize=_PART)
            else:
                connection = HTTPConnection(at.host, port, timeout=limits.CONNECT, blocksize=_PART)
            self._connection = connection
        if not connection.sock:
            connection.connect()
            connection.sock.settimeout(limits.IDLE)
        return connection

    # ---- limits

    def _within(self, seconds: float, work: Callable[[], _T]) -> _T:
        """The result of `work`, done in a thread: a socket's timeout covers neither the lookup of its name nor a server
        that sends a byte a second. RemoteFailed when the time is over, or for any error of the connection."""
        results: list[_T] = []
        errors: list[Exception] = []

        def run() -> None:
            _block_sigpipe()
            try:
                self._wait_until_open()
                results.append(work())
            except Exception as error:  # whatever a server answers, the run goes on
                errors.append(error)

        thread = Thread(target=run, daemon=True)
        thread.start()
        late = False
        try:
            thread.join(seconds)
        finally:
            if late := thread.is_alive():
                self._give_up()
        if late:  # whatever the thread made of the end of the answer, which it may take for a whole one
            raise RemoteFailed(f"no answer within {seconds:.0f} s")
        if errors:
            raise _as_failure(errors[0])
        return results[0]

    def _wait_until_open(self) -> None:
        opening, self._opening = self._opening, None
        if opening is not None:
            opening.join()
            if self._refused is not None:
                raise self._refused

    def _give_up(self) -> None:
        """Wakes the thread: it gets an error in place of more bytes."""
        self._given_up = True
        connection = self._connection
        if connection is not None and connection.sock is not None:
            with suppress(OSError):
                socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)  # an SSLSocket's own would end TLS first


def _read_token(path: str) -> str:
    """The bearer token in a file. RemoteFailed if it has none, or more than one line."""
    text = (read_file(path, _TOKEN) or b"").decode("latin-1").strip()
    if not text or " " in text or not (text.isascii() and text.isprintable()):
        raise RemoteFailed(f"{path} is not a file with one line, the token")
    return text


def _context(ca: str) -> ssl.SSLContext:
    """How TLS is spoken. `ca`: a file with certificates, "" for the system's. RemoteFailed if it has none."""
    try:
        return ssl.create_default_context(cafile=ca or None)
    except ssl.SSLError:
        if not ca:
            raise
        raise RemoteFailed(f"{ca} has no certificates in PEM format") from None


def _block_sigpipe() -> None:
    """In this thread: the signal ends the process where nothing else is set."""
    if hasattr(signal, "SIGPIPE"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})


def _refusal(method: str, status: int) -> str:
    if status in _DENIED:
        what = "uploads: write remote_upload=0" if method == "PUT" else "access: name the token with remote_token=FILE"
        return f"HTTP {status}, it refuses {what}"
    if 300 <= status < 400:
        return f"HTTP {status}, a redirect, which is not followed"
    return f"HTTP {status} for a {method}"


def _as_failure(error: Exception) -> Exception:
    """An error of a request, with its reason in words."""
    if isinstance(error, (RemoteFailed, RemoteWrong)):
        return error
    if isinstance(error, ssl.SSLCertVerificationError):
        return RemoteFailed(f"its certificate is not valid: {error.verify_message}")
    if isinstance(error, ssl.SSLError):
        return RemoteFailed(f"TLS: {error.reason or error}")
    if isinstance(error, TimeoutError):
        return RemoteFailed("no answer in time")
    if isinstance(error, HTTPException):
        return RemoteFailed(f"its answer is not HTTP, or cut off ({type(error).__name__})")
    return RemoteFailed(str(getattr(error, "strerror", None) or error or type(error).__name__))
