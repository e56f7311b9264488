"""`gradmill watch` on a project, as a process that tests talk to."""

from __future__ import annotations

import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from typing import IO

from project import Project

from gradmill.io.files import read_file
from gradmill.query.memo import digest
from gradmill.session import record


class Watching:
    """A `gradmill watch` on a project, or a process that `start` starts for this command."""

    def __init__(self, start: Project | Callable[[str], subprocess.Popen[str]], **variables: object) -> None:
        self.process = start.start("watch", **variables) if isinstance(start, Project) else start("watch")
        assert self.process.stdout is not None and self.process.stderr is not None
        self._lines: queue.Queue[str] = queue.Queue()
        streams = (self.process.stdout, self.process.stderr)
        self._readers = [threading.Thread(target=self._collect, args=(stream,), daemon=True) for stream in streams]
        for reader in self._readers:
            reader.start()

    def _collect(self, stream: IO[str]) -> None:
        for line in stream:
            self._lines.put(line)

    def wait_for(self, text: str, *, patience: float = 60) -> str:
        """The next line that holds `text`, of which each may take so many seconds."""
        while True:
            line = self._lines.get(timeout=patience)
            if text in line:
                return line

    def wait_until_kept(self, project: Project) -> None:
        """Until the files that it wrote are noted, which it does after its report."""
        self.wait_while(lambda: not _is_kept(project))

    def wait_while(self, holds: Callable[[], bool], *, patience: float = 60) -> None:
        """Until something holds no more, for so many seconds."""
        end = time.monotonic() + patience
        while holds():
            assert time.monotonic() < end
            time.sleep(0.01)

    def rest(self) -> str:
        """Its remaining output, once it has ended."""
        for reader in self._readers:
            reader.join(timeout=60)
        return "".join(self._lines.queue)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)


def _is_kept(project: Project) -> bool:
    records = (record.load(str(path)) for path in project.rows.parent.glob("last-*"))  # also one that is being written
    return any(
        all(digest(read_file(file) or b"") == made.digest for file, made in last.outputs.items())
        for last in records
        if last is not None
    )
