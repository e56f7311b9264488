"""An editor's own copy of a set's rows: only this copy stores results of unsaved text.

It starts as a copy of the last run's rows. A large set is therefore available at once, and the rows that differ are
those that a run would rebuild. The process removes its copy when it ends, and the copies of killed processes.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from xxhash import xxh3_64_hexdigest

from pipeline.front.run.claims import owner_of
from pipeline.io.files import create_file, remove_empty, runs
from pipeline.model.regex import regex
from pipeline.store.sqlite import Seal, is_checkpointed, seal_of, stats_of

_FOLDER = "editor."  # followed by the process id and a digest of the set's owner
_NAME = regex(r"editor\.(\d+)\.[0-9a-f]{8}\w*\.[0-9a-f]{16}")
_VALUES = ".values"
_PART = 1 << 20


class Private:
    """A store of this process, next to the one that runs share. `owner` distinguishes sets with the same name."""

    def __init__(self, shared: str, owner: str, mark: str = "") -> None:
        self._shared = shared
        self._owner = owner
        self._created: list[str] = []  # the parent folders that this object created
        digest = xxh3_64_hexdigest(owner.encode())[:8]  # two sets may have one name
        name = f"{_FOLDER}{os.getpid()}.{digest}{mark}.{os.urandom(8).hex()}"  # the end: no other has the name
        self.folder = os.path.join(os.path.dirname(shared), name)
        self.path = os.path.join(self.folder, os.path.basename(shared))  # of a store of the same code

    @property
    def left(self) -> Seal | None:
        """The seal of the last run's store; it changes with every run that commits results."""
        return seal_of(self._shared)

    def take(self, *, runs: bool) -> bool:
        """Starts with an empty store or, with `runs`, a copy of the last run's; returns whether it is such a copy."""
        self.remove()
        folders = os.path.dirname(self._shared), os.path.dirname(os.path.dirname(self._shared))
        if self._remove_abandoned():
            for folder in folders:
                remove_empty(folder)  # a killed process created it
        self._created = [folder for folder in folders if not os.path.lexists(folder)]
        return runs and self._copy()

    def _copy(self) -> bool:
        """Copies the store; its readers verify the copy. Returns whether the copy is complete."""
        before = stats_of(self._shared)
        if None in before or not is_checkpointed(self._shared) or not self._is_ours():
            return False
        try:
            os.makedirs(self.folder)
            for end in ("", _VALUES):
                with open(self._shared + end, "rb") as source, create_file(self.path + end) as target:
                    shutil.copyfileobj(source, target, _PART)
        except OSError:
            self.remove()
            return False
        if stats_of(self._shared) != before:
            self.remove()
            return False
        return True

    def _is_ours(self) -> bool:
        """Whether the shared store belongs to this set, not to another one with the same name."""
        return owner_of(os.path.dirname(self._shared)) == self._owner

    def remove(self) -> None:
        """Removes the copy."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for folder in self._created:
            remove_empty(folder)

    def _remove_abandoned(self) -> bool:
        """Removes the copies of processes that have ended; returns whether there was one."""
        parent, found = os.path.dirname(self._shared), False
        with suppress(OSError):
            for name in os.listdir(parent):
                match = _NAME.fullmatch(name)
                if match is not None and not runs(int(match[1])):
                    shutil.rmtree(os.path.join(parent, name), ignore_errors=True)
                    found = True
        return found
