"""The extension of editors/vscode: built, packed, installed in VS Code's server, and used there by way of a browser.

VS Code itself is the one in the npm package of code-server, without the native modules that need a compiler.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import browser
import pytest
from project import ROOT, Project

from browse.test_editors import PATIENCE, assert_serves, environment, with_an_error

EXTENSION = ROOT / "editors" / "vscode"
DRIVER = ROOT / "tests" / "editors" / "vscode"
MODULES = EXTENSION / "node_modules"
SERVER = Path(
    os.environ.get("VSCODE_SERVER", ROOT / ".venv/vscode/node_modules/code-server/lib/vscode/out/server-main.js")
)
FLAGS = "--host 127.0.0.1 --without-connection-token --accept-server-license-terms --disable-workspace-trust".split()


def absent() -> str:
    """What the tests of the extension need and is missing, "" if nothing is."""
    if not shutil.which("node") or not shutil.which("npm"):
        return "Node.js or npm is absent: apt-get install nodejs npm"
    return "" if MODULES.is_dir() else "run `npm ci --ignore-scripts` in editors/vscode"


def run(*command: object, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=env, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packed extension, built in a copy."""
    if reason := absent():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("vscode") / "extension"
    shutil.copytree(EXTENSION, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (folder / "node_modules").symlink_to(MODULES)
    run("npm", "run", "package", cwd=folder)
    return folder / "dist" / "gradmill.vsix"


@pytest.mark.slow(11)
def test_the_extension_is_packed_with_the_client_and_its_license(packed: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        names = {name.lower().removeprefix("extension/") for name in archive.namelist()}
        licenses = archive.read("extension/dist/LICENSES.txt").decode()
    wanted = {"package.json", "readme.md", "license.txt", "icon.png", "dist/extension.js", "dist/licenses.txt"}
    assert names == wanted | {"[content_types].xml", "extension.vsixmanifest"}
    assert "vscode-languageclient\n" in licenses and "vscode-jsonrpc\n" in licenses


@contextmanager
def server(folder: Path, env: dict[str, str]) -> Iterator[str]:
    """VS Code's server; the address of its page."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["node", str(SERVER), *FLAGS, f"--port={port}", f"--server-data-dir={folder}", "--telemetry-level=off"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True)
    try:
        end = time.monotonic() + PATIENCE
        while "Web UI available" not in (folder / "log").read_text():
            assert process.poll() is None and time.monotonic() < end, (folder / "log").read_text()
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def used(project: Project, packed: Path, folder: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """What the driver found in an editor with the extension. `settings`: those of the machine."""
    env = {**environment(folder), "SPECS": str(project.path("derivatives.yaml"))}
    data, out = folder / "server", Path(env["OUT"])
    shutil.copytree(DRIVER, data / "extensions" / "tests.driver-0.0.1")
    (data / "data" / "Machine").mkdir(parents=True)
    (data / "data" / "Machine" / "settings.json").write_text(json.dumps(settings))
    install = ["--install-extension", packed, f"--server-data-dir={data}", "--accept-server-license-terms"]
    run("node", SERVER, *install, cwd=folder, env=env)
    with server(data, env) as address:
        page = browser.Browser()
        try:
            page.open(f"{address}/?folder={project.folder}")
            page.until(out.exists, patience=PATIENCE)
        finally:
            page.close()
    result: dict[str, Any] = json.loads(out.read_text())
    return result


@pytest.mark.slow(11)
def test_vscode(built: Project, packed: Path, tmp_path: Path) -> None:
    if not SERVER.is_file():
        pytest.skip("VS Code's server is absent: .ci/run installs it; or set VSCODE_SERVER to its server-main.js")
    if not browser.CHROMIUM:
        pytest.skip(browser.MISSING)
    with_an_error(built)
    before = sorted(path.name for path in built.folder.iterdir())
    command = Path(sys.executable).parent / "gradmill"
    result = used(built, packed, tmp_path / "home", {"gradmill.command": str(command)})
    with_an_error(built)  # again: the driver corrected it, and the commands save the file
    assert_serves(result, built, built.path("derivatives.yaml"))
    assert result["node"] == "MvBackward0"
    assert "struct TORCH_API MvBackward0" in result["cpp"]
    page = Path(result["page"])
    assert page.name == "index.html" and page.is_file()
    assert page.is_relative_to(tmp_path / "home" / "server")
    assert sorted(path.name for path in built.folder.iterdir()) == sorted([*before, "home"])
