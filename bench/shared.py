"""Shared caches in this process, for runs of gradmill with `remote=`, also with added latency."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import NamedTuple

from bench.delay import Delay


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stored: dict[str, bytes]
    requests: list[str]

    def do_GET(self) -> None:
        self.requests.append(self.path)
        data = self.stored.get(self.path)
        self._answer(404 if data is None else 200, data or b"")

    def do_PUT(self) -> None:
        self.requests.append(self.path)
        self.stored[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(201)

    def _answer(self, status: int, data: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: it would be among the measurements."""


class Traffic(NamedTuple):
    """What a cache has seen since it was started."""

    requests: int
    up: int  # bytes that it got, with all that surrounds messages
    down: int


class Cache:
    """An empty cache, which ends with this process. `latency`: seconds that are added to each round trip."""

    def __init__(self, latency: float = 0.0) -> None:
        handler = type("Handler", (_Handler,), {"stored": {}, "requests": []})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        self._requests = handler.requests
        self._proxy = Delay(server.server_address[1], latency)
        self.url = f"http://127.0.0.1:{self._proxy.port}"

    @property
    def traffic(self) -> Traffic:
        """What it has seen."""
        return Traffic(len(self._requests), self._proxy.up, self._proxy.down)
