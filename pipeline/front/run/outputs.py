"""Generated files: written when their bytes change, and never over what gradmill did not make."""

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from msgspec import Struct

from pipeline.problems.problem import SpecError
from pipeline.query.files import TICK, UNSETTLED, Moment, Stat, is_settled, read_file, replace_file, stat_of
from pipeline.query.query import Parts
from pipeline.query.row import digest

_MARK = re.compile(rb"@ ?generated (from|by) ")  # in the first lines of every generated file
_FROM = re.compile(rb"@ ?generated (?:from|by \S+ from) (\S+)")
_HEAD = 4096


class Written(Struct, frozen=True, array_like=True):
    """A file as it was left: what the system says of it, where that is evidence, and the digest of its bytes."""

    stat: Stat
    digest: bytes


class Outputs:
    """The files that gradmill made in one place. `known` is what earlier runs left, by path; a path may be spelt in
    another way from run to run."""

    def __init__(self, known: Mapping[str, Written]) -> None:
        self.known = {os.path.abspath(path): made for path, made in known.items()}
        self.moment = Moment(0)  # when the run began

    def __contains__(self, path: str) -> bool:
        return os.path.abspath(path) in self.known

    def holds(self, path: str, wanted: bytes) -> bool:
        """Whether a file has the bytes with a digest."""
        stat, place = stat_of(path), os.path.abspath(path)
        known = self.known.get(place)
        if stat is not None and known is not None and known.stat == stat:
            return known.digest == wanted
        data = read_file(path) if stat is not None else None
        if stat is None or data is None or digest(data) != wanted:
            return False
        self.known[place] = Written(stat, wanted)
        return True

    def write(self, path: str, data: Parts) -> None:
        """Puts bytes into a file of ours; a SpecError where another file stands at its place."""
        self.check(path)
        replace_file(path, *data)
        self.note(path, data.digest)

    def note(self, path: str, found: bytes) -> None:
        """Notes a file that was written."""
        stat = stat_of(path)
        if stat is not None:
            self.known[os.path.abspath(path)] = Written(stat, found)

    def there(self, clock: Callable[[], Moment]) -> dict[str, Written]:
        """What is still there. What was written in this run is read once more, when the clock has ticked: else it may
        change again, or have changed, and have the stat that it was written with."""
        there = {path: stat for path in self.known if (stat := stat_of(path)) is not None}
        recent = {path: stat for path, stat in there.items() if not is_settled(stat, self.moment)}
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

    def check(self, path: str, of: str = "") -> None:
        """Refuses a place where there is something that no generator made. `of`: whose depfile is to be there."""
        if path not in self and os.path.lexists(path) and not (is_rule_for(path, of) if of else is_generated(path)):
            raise SpecError(
                f"{path}: there is a file that gradmill did not make", "move it, or name another folder: generated=DIR"
            )

    def remove(self, paths: Iterable[str], made: Callable[[str, bytes], bool] | None = None) -> None:
        """Removes files that are no longer part of the output, unless somebody changed them since. `made`: whether
        another run, in another layout, may have left a file with the bytes of this digest."""
        for path in paths:
            known = self.known.pop(os.path.abspath(path), None)
            if known is not None and stat_of(path) != known.stat:
                data = read_file(path)
                if data is None or (digest(data) != known.digest and not (made and made(path, digest(data)))):
                    continue
            with suppress(OSError):
                os.unlink(path)


def is_generated(path: str) -> bool:
    """Whether a file says of itself that a generator made it."""
    return _MARK.search(read_file(path, _HEAD) or b"") is not None


def source_of(path: str) -> str:
    """What a file says that it was generated from, "" where it says nothing of that."""
    found = _FROM.search(read_file(path, _HEAD) or b"")
    return found[1].decode(errors="replace") if found is not None else ""


def is_rule_for(path: str, target: str) -> bool:
    """Whether a file is a depfile that says what `target`, however it is spelt, is made from."""
    head = (read_file(path, _HEAD) or b"").split(b": ", 1)[0]
    return os.path.basename(os.fsdecode(head.replace(b"\\ ", b" "))) == os.path.basename(target)


def remove_abandoned(folder: str, names: Iterable[str]) -> None:
    """Removes what killed writers of the files called `names` left in a folder."""
    wanted = set(names)
    with suppress(OSError):
        for found in os.listdir(folder):
            name, _, writer = found.removesuffix(".tmp").rpartition(".")
            if found.endswith(".tmp") and name in wanted and writer.isdecimal() and not runs(int(writer)):
                os.unlink(os.path.join(folder, found))


def runs(process: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
