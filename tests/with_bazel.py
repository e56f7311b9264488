"""Bazel, for tests that build with it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest


def program() -> str:
    """Bazel: what the environment says, or what is on the PATH."""
    return os.environ.get("BAZEL") or shutil.which("bazel") or ""


def newer_program() -> str:
    """One whose workers speak JSON, as those of version 4 and newer do; Debian's does not say its version."""
    for each in filter(None, (program(), shutil.which("bazel"))):
        version = subprocess.run([each, "--version"], capture_output=True, text=True, check=False).stdout
        if not re.match(r"bazel [0-3]\.", version):
            return each
    return ""


needs_bazel = pytest.mark.skipif(
    not program(), reason="Bazel is absent: see examples/bazel/README.md, and set BAZEL to the program"
)


class Bazel:
    """A workspace, and Bazel's server for it, which stays for the next build: starting one takes 5 s."""

    def __init__(self, files: Path, workspace: Path, environment: Mapping[str, str], start: str = "") -> None:
        self._start = [start or program(), f"--output_user_root={files}", "--max_idle_secs=60"]
        self._workspace = workspace
        self._environment = {"USER": "nobody", **os.environ, **environment}

    def __enter__(self) -> Bazel:
        return self

    def __exit__(self, *_: object) -> None:
        self.run("shutdown")

    def run(self, *words: str, status: int = 0) -> str:
        """What Bazel says."""
        done = subprocess.run(
            [*self._start, *words],
            cwd=self._workspace,
            env=self._environment,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == status, done.stderr[-8000:]
        return done.stderr

    def build(self, target: str, flags: Iterable[str] = ()) -> str:
        """Builds; what Bazel says, with all that it ran."""
        return self.run("build", "--jobs=2", *flags, "--subcommands", target)


def actions(message: str) -> list[str]:
    """What Bazel ran: the beginnings of the descriptions."""
    return re.findall(r"\[action '(\w+)", message)
