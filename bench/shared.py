"""Shared caches in this process, for runs of gradmill with `remote=`: HTTP, or gRPC with added latency."""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple

_TESTS = Path(__file__).resolve().parent.parent / "tests"


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
    """An empty cache, which ends with this process. `kind`: `http`, `grpc` or `grpc-zstd`. `latency`: seconds that are
    added to each round trip."""

    def __init__(self, kind: str, latency: float = 0.0) -> None:
        if str(_TESTS) not in sys.path:
            sys.path.insert(0, str(_TESTS))
        from delay import Delay

        if kind == "http":
            handler = type("Handler", (_Handler,), {"stored": {}, "requests": []})
            server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
            server.daemon_threads = True
            Thread(target=server.serve_forever, daemon=True).start()
            self._calls, port = handler.requests, server.server_address[1]
        else:
            from execution_server import Server

            executor = Server({}, zstd=kind == "grpc-zstd")
            executor.start()
            self._executor = executor  # which stops when nothing refers to it
            self._calls, port = executor.calls, executor.port
        self._proxy = Delay(port, latency)
        self.url = f"{kind.partition('-')[0]}://127.0.0.1:{self._proxy.port}"

    @property
    def traffic(self) -> Traffic:
        """What it has seen."""
        return Traffic(len(self._calls), self._proxy.up, self._proxy.down)
