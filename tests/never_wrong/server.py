"""A process that does one thing after another, as starting it takes longer than each of them: a line of JSON in, a line
of JSON out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar, Self

from . import TESTS


class Server:
    """The process, which runs `module`."""

    module: ClassVar[str]

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", self.module]
        self._process = subprocess.Popen(
            command, cwd=Path(TESTS).parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

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
        assert answer, f"{self.module}: the process ended"
        return json.loads(answer)
