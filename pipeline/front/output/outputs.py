"""Generated files: written when their bytes change, and never over what gradmill did not make."""

import os
import stat
import time
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import suppress

from msgspec import Struct

from pipeline.front.output.ownership import Identity, Knows, Says, identities, nothing, refusal, refused
from pipeline.io.files import TICK, UNSETTLED, Moment, Stat, is_settled, read_file, replace_file, stat_of
from pipeline.query.memo import digest
from pipeline.query.query import Parts


class Written(Struct, frozen=True, array_like=True):
    """A file as it was left: what the system says of it, where that is evidence, and the digest of its bytes."""

    stat: Stat
    digest: bytes


def _unknown(_: str) -> Knows:
    return nothing


class Outputs:
    """The files that gradmill made in one place. `known` is what earlier runs left, by path; the path of a folder may
    differ from run to run. `inputs` gives the paths of files that are never written over nor deleted."""

    def __init__(self, known: Mapping[str, Written], inputs: Callable[[], Iterable[str]] = list) -> None:
        self._inputs = inputs
        self._folders: dict[str, str] = {}
        self.known = {self.place(path): made for path, made in known.items()}

    def __contains__(self, path: str) -> bool:
        return self.place(path) in self.known

    def place(self, path: str) -> str:
        """A path by which a file is known, whatever links lead to its folder."""
        folder, name = os.path.split(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return os.path.join(self._folders[folder], name)

    def holds(self, path: str, wanted: bytes) -> bool:
        """Whether a file has the bytes with a digest."""
        now, place = stat_of(path), self.place(path)
        known = self.known.get(place)
        if now is not None and known is not None and known.stat == now:
            return known.digest == wanted
        data = read_file(path) if now is not None else None
        if now is None or data is None or digest(data) != wanted:
            return False
        self.known[place] = Written(now, wanted)
        return True

    def write(self, path: str, data: Parts, says: Says = nothing) -> None:
        """Puts bytes into a file of ours; a SpecError where another file stands at its place."""
        if problem := self.refusal(path, says):
            raise refused(path, problem)
        replace_file(path, *data)
        self.note(path, data.digest)

    def note(self, path: str, found: bytes) -> None:
        """Notes a file that was written."""
        now = stat_of(path)
        if now is not None:
            self.known[self.place(path)] = Written(now, found)

    def there(self, since: Moment, clock: Callable[[], Moment]) -> dict[str, Written]:
        """What is still there. What was written since the run began is read once more, when the clock has ticked: else
        it may change again, or have changed, and have the stat that it was written with."""
        there = {path: stat for path in self.known if (stat := stat_of(path)) is not None}
        recent = {path: stat for path, stat in there.items() if not is_settled(stat, since)}
        now, end = clock(), time.monotonic_ns() + TICK
        while not all(is_settled(stat, now) for stat in recent.values()) and time.monotonic_ns() < end:
            time.sleep(TICK / 20e9)
            now = clock()
        for path, stat in recent.items():
            made = self.known[path]
            if stat == made.stat and not (is_settled(stat, now) and digest(read_file(path) or b"") == made.digest):
                self.known[path] = Written(UNSETTLED, made.digest)
        self.known = {path: self.known[path] for path in there}
        return dict(self.known)

    def refusal(
        self,
        path: str,
        says: Says = nothing,
        knows: Knows = nothing,
        *,
        deletes: bool = False,
        inputs: Set[Identity] | None = None,
    ) -> str:
        """Why a file may not be written over, or deleted; "" where it may. `inputs`: for callers who ask often."""
        known = self.known.get(self.place(path))

        def ours(found: bytes) -> bool:
            return (known is not None and known.digest == found) or knows(found)

        inputs = identities(self._inputs()) if inputs is None else inputs
        return refusal(path, inputs, says, ours, recorded=known is not None, deletes=deletes)

    def remove(self, paths: Iterable[str], says: Says = nothing, knows: Callable[[str], Knows] = _unknown) -> None:
        """Removes files that are no longer part of the output, unless they were changed since. `says`: whether a file
        of which there is no record says that it is ours; `knows`: whether the record of another run has it."""
        for path in paths:
            recorded = path in self
            kept = self.refusal(path, nothing if recorded else says, knows(path), deletes=True)
            self.known.pop(self.place(path), None)
            if not kept:
                with suppress(OSError):
                    os.unlink(path)


def remove_abandoned(folder: str, names: Iterable[str]) -> None:
    """Removes what killed writers of the files called `names` left in a folder."""
    wanted = set(names)
    try:
        there = os.listdir(folder)
    except OSError:
        return
    for found in there:
        name, _, writer = found.removesuffix(".tmp").rpartition(".")
        if found.endswith(".tmp") and name in wanted and writer.isdecimal() and not runs(int(writer)):
            path = os.path.join(folder, found)
            with suppress(OSError):
                if stat.S_ISREG(os.lstat(path).st_mode):
                    os.unlink(path)


def runs(process: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
