"""Verifies the formulas that an edit changed, in a process next to `watch`, which goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress

from gradmill.extensions.verify.known import deciding
from gradmill.session.own_code import PACKAGE
from gradmill.session.session import Session


class Verifying:
    """The verification of one set's changed formulas. `variables`: those of the command line."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._words = [f"{name}={value}" for name, value in variables.items() if name != "verify"]
        self._process: subprocess.Popen[bytes] | None = None
        self._known: dict[str, str] | None = None  # the digest of each Node's formulas, when it was last verified
        self._checked: dict[str, str] = {}  # those that the process verifies

    def start(self, build: Session, *, failed: bool) -> None:
        """Ends a verification of older text. With verify=1, verifies the formulas that differ from those which
        were verified last, unless the specs have errors (`failed`); the first call only notes them. SpecError for a
        release whose formulas cannot be verified."""
        self.stop()
        if failed or not build.config.more["verify"]:
            return
        digests = deciding(build)
        if self._known is None:
            self._known = digests
        self._checked = {name: digest for name, digest in digests.items() if self._known.get(name) != digest}
        if self._checked:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # else `stop` may not know the process
            try:
                self._process = _process([*self._checked, *self._words])
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def stop(self) -> None:
        """Ends a verification that still runs, with its compilers and the processes of its checks."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        elif process.returncode in (0, 1) and self._known is not None:
            self._known |= self._checked


def _process(words: list[str]) -> subprocess.Popen[bytes]:
    """`gradmill verify` in a process group of its own."""
    paths = filter(None, (os.path.dirname(PACKAGE), os.environ.get("PYTHONPATH", "")))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-P", "-m", "gradmill", "verify", *words]
    return subprocess.Popen(command, env=environment, process_group=0)  # noqa: S603
