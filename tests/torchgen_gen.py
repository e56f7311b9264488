"""The oracle of ATen's files: a release's own `torchgen.gen`, run with its arguments in a process of its own.

A run on all functions takes 24 s of CPU, 9 of them for headers: equal runs of one test session share their results.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from installed import once
from project import files_in

INSTALL = "install"  # the install folder, below the working folder
SHIMS = "aoti"  # the folder of AOTInductor's shims in it
# If the first operator with kernels has `ufunc_inner_loop`, upstream's order of CPU and CUDA is that of a set: with
# this seed that of `UFUNC_DISPATCH_KEYS` in the source.
SEED = {"PYTHONHASHSEED": "1"}
_SINCE_NATIVE_AOT = "--native-aot-ops-dir"  # without it torchgen executes modules of an installed torch


class Generated(NamedTuple):
    """A run of torchgen.gen that succeeded, in its working folder."""

    folder: Path

    @property
    def files(self) -> dict[str, bytes]:
        """The generated files, by their path in the install folder."""
        return files_in(self.folder / INSTALL)

    @property
    def lists(self) -> dict[str, str]:
        """The files that `-o` wrote to the working folder."""
        return {path.name: path.read_text() for path in self.folder.glob("*.cmake")}


class Refused(Exception):
    """torchgen.gen failed: the last lines that it printed."""


def run_gen(source: Path, folder: Path, *words: str, root: Path | None = None) -> Generated:
    """Runs it in the empty folder `folder`. `source`: the folder with `native` and `templates`. `root`: the folder with
    the release's torchgen, by default the installed one. Refused if it fails."""
    environment = {**os.environ, **SEED, **({"PYTHONPATH": str(root)} if root else {})}
    options = ["-s", str(source.resolve()), "-d", INSTALL, f"--aoti-install-dir={INSTALL}/{SHIMS}", *words]
    if _has_native_aot(root) and not any(word.startswith(_SINCE_NATIVE_AOT) for word in words):
        options.append(f"{_SINCE_NATIVE_AOT}=")
    command = [sys.executable, "-m", "torchgen.gen", *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(done.stderr[-2000:])
    return Generated(folder)


def shared_gen(shared: Path, source: Path, *words: str) -> Generated:
    """The same with the installed torchgen, once a test session for equal arguments and equal files of `source`.
    `shared`: the folder that all processes of the session have."""
    key = sha256("\0".join(words).encode())
    for path in inputs_of(source):
        key.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return Generated(once(shared / f"gen-{key.hexdigest()[:16]}", partial(_made, source, words)))


def inputs_of(source: Path) -> Iterable[Path]:
    """The files of a source folder that torchgen.gen reads."""
    yield from (source / "native" / name for name in ("native_functions.yaml", "tags.yaml"))
    yield from sorted((source / "templates").iterdir())


def _made(source: Path, words: tuple[str, ...], folder: Path) -> Path:
    work = folder / "work"
    work.mkdir()
    return run_gen(source, work, *words).folder


def _has_native_aot(root: Path | None) -> bool:
    import torchgen

    package = root / "torchgen" if root is not None else Path(torchgen.__file__).parent
    return _SINCE_NATIVE_AOT in (package / "gen.py").read_text()
