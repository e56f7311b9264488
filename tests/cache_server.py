"""An HTTP cache on the loopback interface, which may misbehave in any way, and the requests that it got."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, NamedTuple

Answer = Callable[["Exchange"], object]  # writes an answer, or none


class Request(NamedTuple):
    """What a client sent."""

    method: str
    path: str
    headers: Mapping[str, str]


class Exchange(BaseHTTPRequestHandler):
    """One connection. `known`: what is stored at the path, None for nothing."""

    protocol_version = "HTTP/1.1"
    server: Server
    known: bytes | None

    def do_GET(self) -> None:
        self._answer(lambda: self.give(200, self.known) if self.known is not None else self.give(404))

    def do_HEAD(self) -> None:
        self._answer(lambda: self.describe(self.known))

    def do_PUT(self) -> None:
        self._answer(self.accept)

    def _answer(self, usual: Callable[[], object]) -> None:
        self.server.requests.append(Request(self.command, self.path, dict(self.headers)))
        self.known = self.server.stored.get(self.path)
        kind = self.path.split("/")[-2]
        answer = self.server.answers.get(f"{self.command} {kind}")
        try:
            usual() if answer is None else answer(self)
        except OSError:  # the client has closed
            self.close_connection = True

    def give(self, status: int, data: bytes = b"", **headers: object) -> None:
        """Answers. `headers`: more, or in the place of the usual ones, by their names with underscores."""
        fields = {"Content-Length": len(data), **{name.replace("_", "-"): value for name, value in headers.items()}}
        self.send_response(status)
        for name, value in fields.items():
            if value is not None:
                self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(data)

    def describe(self, data: bytes | None) -> None:
        """Answers a HEAD."""
        if data is None:
            self.give(404, Content_Length=153)
        else:
            self.give(200, Content_Length=len(data))

    def accept(self) -> None:
        """Stores what the client sends."""
        self.server.stored[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.give(201)

    def send(self, data: bytes) -> None:
        """Sends bytes that need be no HTTP, and ends."""
        self.wfile.write(data)
        self.close_connection = True

    def reset(self, data: bytes = b"") -> None:
        """Sends bytes, and resets the connection."""
        self.wfile.write(data)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def hang(self, data: bytes = b"") -> None:
        """Sends bytes, then nothing, until the test ends."""
        self.wfile.write(data)
        self.server.ended.wait(30)
        self.close_connection = True

    def trickle(self, data: bytes) -> None:
        """Sends bytes one by one, slowly, until the test ends."""
        for byte in data:
            self.wfile.write(bytes([byte]))
            if self.server.ended.wait(0.05):
                break
        self.close_connection = True

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


class Server(ThreadingHTTPServer):
    """The server. `answers`: what it does in place of the usual, by method and kind of entry, as in `GET ac`."""

    daemon_threads = True

    def __init__(self, stored: Mapping[str, bytes], answers: Mapping[str, Answer]) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.stored = dict(stored)
        self.answers = dict(answers)
        self.requests: list[Request] = []
        self.ended = Event()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.name}"

    @property
    def methods(self) -> list[str]:
        """The requests, as `GET ac`."""
        return [f"{each.method} {each.path.split('/')[-2]}" for each in self.requests]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: clients may close when they like."""


@contextmanager
def serving(
    stored: Mapping[str, bytes] = {}, answers: Mapping[str, Answer] = {}, tls: ssl.SSLContext | None = None
) -> Iterator[Server]:
    """A server while the context lasts. `stored`: what it has, by path."""
    server = Server(stored, answers)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
