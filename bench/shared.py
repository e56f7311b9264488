"""An HTTP cache in this process, for runs of gradmill with `remote=`."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stored: dict[str, bytes]

    def do_GET(self) -> None:
        data = self.stored.get(self.path)
        self._answer(404 if data is None else 200, data or b"")

    def do_PUT(self) -> None:
        self.stored[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(201)

    def _answer(self, status: int, data: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: it would be among the measurements."""


def serve() -> str:
    """Starts an empty cache, which ends with this process. Its URL."""
    handler = type("Handler", (_Handler,), {"stored": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"
