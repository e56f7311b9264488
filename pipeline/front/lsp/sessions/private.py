"""A copy of a set's rows for one editor: what was typed and never saved is remembered there, and nowhere else.

It starts as what the last run left, so that a large set is there at once, and so that what differs from it is what a
run would make again. It is removed with the process; what a killed one left, by the next.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from xxhash import xxh3_64_hexdigest

from pipeline.front.output.claims import owners_in
from pipeline.front.output.outputs import runs
from pipeline.io.files import read_file, remove_empty
from pipeline.store.sqlite import Seal, is_checkpointed, seal_of, stats_of

_FOLDER = "editor."  # then the number of the process, and what tells sets of one name apart
_VALUES = ".values"


class Private:
    """A store of this process's own, beside the one that runs share."""

    def __init__(self, shared: str, owner: str, mark: str = "") -> None:
        self._shared = shared
        self._owner = owner
        self._made: list[str] = []  # folders around the copy that were not there before
        name = f"{_FOLDER}{os.getpid()}.{xxh3_64_hexdigest(owner.encode())[:8]}{mark}"  # two sets may have one name
        self._folder = os.path.join(os.path.dirname(shared), name)
        self.path = os.path.join(self._folder, os.path.basename(shared))

    @property
    def left(self) -> Seal | None:
        """What the last run left: another one with every run that found something."""
        return seal_of(self._shared)

    def take(self, *, runs: bool) -> bool:
        """Starts anew, or as a copy of what `runs` left; whether there was something that is whole."""
        self.remove()
        self._remove_abandoned()
        folder = os.path.dirname(self._shared)
        self._made = [path for path in (folder, os.path.dirname(folder)) if not os.path.lexists(path)]
        return runs and self._copy()

    def _copy(self) -> bool:
        """Copies the rows; those who read them verify the copy."""
        before = stats_of(self._shared)
        if None in before or not is_checkpointed(self._shared) or not self._is_ours():
            return False
        try:
            os.makedirs(self._folder, exist_ok=True)
            for end in ("", _VALUES):
                shutil.copyfile(self._shared + end, self.path + end)
        except OSError:
            self.remove()
            return False
        if stats_of(self._shared) != before:
            self.remove()
            return False
        return True

    def _is_ours(self) -> bool:
        """Whether the runs were of this set, and not of another one of the same name."""
        noted = read_file(os.path.join(os.path.dirname(self._shared), "set")) or b""
        return owners_in(noted).get("") == self._owner

    def remove(self) -> None:
        """Removes the copy."""
        shutil.rmtree(self._folder, ignore_errors=True)
        for folder in self._made:
            remove_empty(folder)

    def _remove_abandoned(self) -> None:
        """Removes the copies of processes that are no more."""
        beside = os.path.dirname(self._shared)
        with suppress(OSError):
            for name in os.listdir(beside):
                writer = name.removeprefix(_FOLDER).partition(".")[0]
                if name.startswith(_FOLDER) and writer.isdecimal() and not runs(int(writer)):
                    shutil.rmtree(os.path.join(beside, name), ignore_errors=True)
