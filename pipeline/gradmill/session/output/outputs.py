"""Generated files: written only if their bytes change, and never over a file that gradmill did not generate."""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Set
from functools import cached_property

from msgspec import Struct
from xxhash import xxh3_128

from gradmill.io.files import TICK, UNSETTLED, Moment, Stat, is_settled, numbers_of, read_parts, replace_file, stat_of
from gradmill.query.query import Parts
from gradmill.session.output.folder_record import FolderRecord
from gradmill.session.output.ownership import HeadTest, Identity, identities, nothing, refusal, refused

_READS = 20  # of a file system's clock, within one tick


class Written(Struct, frozen=True, array_like=True):
    """A file after a run: its stat, UNSETTLED if that is not evidence, and the digest of its bytes."""

    stat: Stat
    digest: bytes


def _digest_of(path: str) -> bytes | None:
    """The digest of a file's bytes, None if they cannot be read."""
    hasher = xxh3_128()
    try:
        for part in read_parts(path):
            hasher.update(part)
    except OSError:
        return None
    return hasher.digest()


class Outputs:
    """The generated files of one output folder.

    `known`: the files of the last run, by path; the path of the folder may differ from run to run.
    `inputs`: returns the paths of the inputs, which are never overwritten or deleted.
    `record`: the record of the folder: what may be overwritten, and alone what may be deleted there.
    """

    def __init__(self, known: Mapping[str, Written], inputs: Callable[[], Iterable[str]], record: FolderRecord) -> None:
        self._inputs = inputs
        self.record = record
        self._folders: dict[str, str] = {}
        self._last = known
        self._same: set[str] = set()  # the places of the files that had their known stats when this pass began
        self._protected: frozenset[Identity] | None = None  # the inputs of this pass, once a file is written
        self.removed = 0  # the number of files that `remove` deleted
        self.remaining: dict[str, Set[bytes]] = {}  # recorded files that `remove` could not delete: their digests

    @cached_property
    def known(self) -> dict[str, Written]:
        """The files of the last run and of this one, by place. A run with nothing to do needs none."""
        folders = {path.rpartition(os.sep)[0] + os.sep for path in self._last}
        if all(self.place(folder) == folder for folder in folders):
            return dict(self._last)
        return {self.place(path): written for path, written in self._last.items()}

    def place(self, path: str) -> str:
        """The key of a file: its path with the links in its folder resolved."""
        folder, slash, name = path.rpartition(os.sep)
        folder += slash
        within = self._folders.get(folder)
        if within is None:
            within = self._folders[folder] = os.path.join(os.path.realpath(folder), "")
        return within + name

    def as_left(self, inputs: Set[Identity]) -> set[str]:
        """The places of the files that were as the last run left them when this pass began, and none of the inputs."""
        inodes = {inode for _, inode in inputs}
        return self._same - {place for place in self._same if self.known[place].stat.inode in inodes}

    def has_digest(self, path: str, wanted: bytes) -> bool:
        """Whether the bytes of a file have the digest `wanted`. Reads the file only if its stat changed."""
        return self.has_digest_at(self.place(path), wanted)

    def has_digest_at(self, place: str, wanted: bytes) -> bool:
        """The same of a file by its place."""
        known = self.known.get(place)
        now = known.stat if known is not None and place in self._same else stat_of(place)
        if now is not None and known is not None and known.stat == now:
            return known.digest == wanted
        if now is None or _digest_of(place) != wanted:
            return False
        self.known[place] = Written(now, wanted)
        return True

    def begin(self) -> None:
        """Begins a pass, which takes the stat of each input and of each known file once, and again of a file that it
        writes: one that changes later has another stat than the record of the run."""
        self._same = {place for place, written in self.known.items() if numbers_of(place) == written.stat}
        self._protected = None
        self.record.read_again()

    def write(self, files: Mapping[str, Parts], by_head: HeadTest = nothing) -> None:
        """Writes generated files, by path. SpecError if a file that gradmill did not generate is at one's place: then
        none is written."""
        if self._protected is None:
            self._protected = identities(self._inputs())
        for path in files:
            if problem := self.refusal(path, by_head, inputs=self._protected):
                raise refused(path, problem, remedy="")
        self.put(files)

    def put(self, files: Mapping[str, Parts]) -> None:
        """Writes files at places that have been checked. OSError if one, or the record, cannot be written."""
        # First: if the run is killed, later ones recognize the files.
        self.record.expect({self.place(path): data.digest for path, data in files.items()})
        for path, data in files.items():
            replace_file(path, *data)
            place = self.place(path)
            self._same.discard(place)
            if (now := stat_of(path)) is not None:
                self.known[place] = Written(now, data.digest)

    def there(self, since: Moment, clock: Callable[[], Moment]) -> dict[str, Written]:
        """The known files that still exist, with stats that are evidence for the next run.

        A file written since the run began is read again after the clock ticked: a second change within one tick would
        not change its stat.
        """
        others = {path: stat_of(path) for path in self.known.keys() - self._same}
        for path in [path for path, stat in others.items() if stat is None]:
            del self.known[path]
        recent = {path: stat for path, stat in others.items() if stat is not None and not is_settled(stat, since)}
        now = clock()
        for _ in range(_READS):  # not until a time: a busy machine may let it pass between two reads of the clock
            if all(is_settled(stat, now) for stat in recent.values()):
                break
            time.sleep(TICK / _READS / 1e9)
            now = clock()
        for path, stat in recent.items():
            known = self.known[path]
            if stat == known.stat and not (is_settled(stat, now) and _digest_of(path) == known.digest):
                self.known[path] = Written(UNSETTLED, known.digest)
        return dict(self.known)

    def refusal(
        self,
        path: str,
        by_head: HeadTest = nothing,
        *,
        deletes: bool = False,
        inputs: Set[Identity] | None = None,
    ) -> str:
        """Why a file may not be overwritten or deleted, "" if it may. `inputs`: the identities of the inputs, if the
        caller checks many files. The other parameters: as in `ownership.refusal`."""
        inputs = identities(self._inputs()) if inputs is None else inputs
        recorded = self.record.digests_of(self.place(path))
        return refusal(path, inputs, by_head, recorded, deletes=deletes)

    def remove(self, paths: Iterable[str]) -> dict[str, str]:
        """Deletes recorded files that are no longer part of the output, unless they were edited; returns the others,
        each with the reason."""
        kept_for = {}
        for path in paths:
            kept = self.refusal(path, deletes=True)
            self.known.pop(self.place(path), None)
            self._same.discard(self.place(path))
            if not os.path.lexists(path):
                continue
            if not kept:
                try:
                    os.unlink(path)
                    self.removed += 1
                except OSError as error:
                    kept = error.strerror or str(error)
            if kept:
                kept_for[path] = kept
                self.remaining[path] = self.record.digests_of(path)
        return kept_for
