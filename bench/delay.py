"""A TCP proxy on the loopback interface that adds latency, and counts bytes."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread

_PART = 1 << 16


class Delay:
    """The proxy of a port. `seconds`: what it adds to each round trip, half of it each way; connecting takes one."""

    def __init__(self, port: int, seconds: float) -> None:
        self._target = port
        self._seconds = seconds
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.up = self.down = 0  # bytes
        Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                for each in (client, server):
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                start = time.monotonic() + self._seconds
                for source, target, upwards in ((client, server, True), (server, client, False)):
                    self._pump(source, target, start, upwards=upwards)

    def _pump(self, source: socket.socket, target: socket.socket, start: float, *, upwards: bool) -> None:
        """Copies one direction, in two threads."""
        parts: SimpleQueue[tuple[float, bytes]] = SimpleQueue()

        def read() -> None:
            data = b"-"
            while data:
                try:
                    data = source.recv(_PART)
                except OSError:
                    data = b""
                if upwards:
                    self.up += len(data)
                else:
                    self.down += len(data)
                parts.put((max(time.monotonic(), start) + self._seconds / 2, data))

        def write() -> None:
            with suppress(OSError):
                while True:
                    due, data = parts.get()
                    time.sleep(max(0.0, due - time.monotonic()))
                    if not data:
                        target.shutdown(socket.SHUT_WR)
                        return
                    target.sendall(data)

        for work in (read, write):
            Thread(target=work, daemon=True).start()
