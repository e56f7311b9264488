"""A process that does one thing after another, as starting it takes longer than each of them: a line of JSON in, a line
of JSON out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, ClassVar, Self

from forked import ROOT


class Server:
    """The process, in which Python runs `module`: `-m` and its name, or its file."""

    module: ClassVar[tuple[str, ...]]
    python: str = sys.executable

    def __enter__(self) -> Self:
        command, pipe = [self.python, *self.module], subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=ROOT, env=self._environment(), stdin=pipe, stdout=pipe, text=True)
        return self

    def _environment(self) -> dict[str, str]:
        return dict(os.environ)

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def ask(self, *words: object) -> Any:
        """What the process answers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"{self.module[-1]}: the process ended"
        return json.loads(answer)
