"""Generated files: which ones are gradmill's, and writing those whose bytes change.

One function decides what may be overwritten or deleted, for runs and for every command. A link, a folder, a pipe or an
input never is, whatever its contents. A file may be overwritten if a record has its place, or if its head names the
source that the generated file has. It is deleted only if a record has its bytes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import suppress
from functools import cached_property
from stat import S_IFDIR, S_IFLNK, S_IFMT, S_ISREG

from msgspec import Struct
from xxhash import xxh3_128

from gradmill.io.files import (
    TICK,
    UNSETTLED,
    Moment,
    Stat,
    is_settled,
    numbers_of,
    open_regular,
    read_file,
    replace_file,
    stat_of,
)
from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError
from gradmill.query.query import Parts
from gradmill.session.output.folder_record import FolderRecord

INPUT = "this is an input"
FOREIGN = "there is a file that gradmill did not generate"
CHANGED = "this file was changed after gradmill generated it"
_KINDS = {S_IFLNK: "there is a link, which gradmill did not create", S_IFDIR: "there is a folder"}
_NO_FILE = "there is something that is not a regular file"

_SOURCE = regex(rb"@ ?generated (?:from|by \S+ from) (\S+)")  # in the first lines of every generated file
_HEAD = 4096
_PART = 1 << 18  # bytes of a file that are read at once: fresh memory for a whole one takes longer than its digest
_READS = 20  # of a file system's clock, within one tick
_STAMP = b"gradmill stamp\n"
OUTPUTS = "# gradmill: the generated files\n"  # the first line of what `outputs=` names
# Of a rule, the first one; the name of its folder may have line ends.
_TARGET = regex(rb"(?:(?:[^ \t\\]|\\.)*/)?((?:[^\s/:\\]|\\.)+)[: ]")
_ESCAPE = regex(rb"\\(.)")
_LIST = regex(rb"set\(\n?\w+\n")
_MANIFEST = regex(rb'\{"format":"(?:manifest|units)/\d+",')

Identity = tuple[int, int]  # device and inode: the same for each path, link and case of letters
HeadTest = Callable[[bytes], bool]  # whether the head of a file identifies it as a certain file of gradmill


def nothing(_: bytes) -> bool:
    """A test that no file passes."""
    return False


def identities(paths: Iterable[str]) -> frozenset[Identity]:
    """The identities of the existing files at `paths`."""
    files = set()
    for path in paths:
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        files.add((status.st_dev, status.st_ino))
    return frozenset(files)


def refusal(
    path: str,
    inputs: Set[Identity],
    by_head: HeadTest = nothing,
    recorded: Set[bytes] = frozenset(),
    *,
    deletes: bool = False,
) -> str:
    """Why a file may not be overwritten or deleted, "" if it may or if it is missing.

    `inputs`: the identities of the inputs. `by_head`: recognizes gradmill's file that may be overwritten.
    `recorded`: the digests of the files that gradmill wrote here. If the file was edited or truncated since, it may be
    overwritten, but not deleted. `deletes`: whether the caller deletes the file.
    """
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return ""  # if it cannot be inspected, writing or deleting fails too, and the system reports why
    if inputs and identities([path]) & inputs:
        return INPUT
    if not S_ISREG(status.st_mode):
        return _KINDS.get(S_IFMT(status.st_mode), _NO_FILE)
    if not deletes:
        return "" if recorded or by_head(head_of(path)) else FOREIGN
    if recorded and _digest_of(path) in recorded:
        return ""
    return CHANGED if recorded else FOREIGN


def refused(path: str, problem: str, remedy: str = "generated=DIR") -> SpecError:
    """The error for a refused path. `remedy`: the option that selects another place, if there is one."""
    other = f"move it, or name another place: {remedy}" if remedy else "move it"
    hint = "name another place for the output" if problem == INPUT else other
    return SpecError(f"{path}: {problem}", hint)


# ---- heads of files


def head_of(path: str) -> bytes:
    """The first bytes of a file, empty if it cannot be read."""
    return read_file(path, _HEAD) or b""


def source_of(path: str) -> str:
    """The source that the head of a file names: what it was generated from. "" if it names none."""
    return source_in(head_of(path))


def source_in(head: bytes) -> str:
    """The source that `head`, the first bytes of a file, names. "" if it names none."""
    match = _SOURCE.search(head)
    return match[1].decode(errors="replace") if match is not None else ""


def has_in_head(text: bytes) -> HeadTest:
    """A test for files with `text` in their head."""
    return lambda head: text in head


def is_manifest(head: bytes) -> bool:
    """Whether a file is a manifest, or a list of units."""
    return _MANIFEST.match(head) is not None


OF_VARIABLES: dict[str, HeadTest] = {  # tests for the files that some variables name
    "stamp": lambda head: head.startswith(_STAMP),
    "outputs": lambda head: head.startswith(OUTPUTS.encode()),
    "cmake_lists": lambda head: _LIST.match(head) is not None,  # torchgen.gen's, too
}


def is_rule_for(*targets: str) -> HeadTest:
    """A test for depfiles whose first target is one of these, with any path to its folder."""
    names = {os.fsencode(os.path.basename(target)) for target in targets}

    def test(head: bytes) -> bool:
        match = _TARGET.match(head)
        return match is not None and _ESCAPE.sub(rb"\1", match[1].replace(b"$$", b"$")) in names

    return test


# ---- the files of a folder


class Written(Struct, frozen=True, array_like=True):
    """A file after a run: its stat, UNSETTLED if that is not evidence, and the digest of its bytes."""

    stat: Stat
    digest: bytes


def _digest_of(path: str) -> bytes | None:
    """The digest of a file's bytes, None if they cannot be read."""
    hasher, part = xxh3_128(), memoryview(bytearray(_PART))
    with suppress(OSError), open(path, "rb", buffering=0, opener=open_regular) as file:
        while size := file.readinto(part):
            hasher.update(part[:size])
        return hasher.digest()
    return None


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
        self._same: dict[str, int] = {}  # the files that had their known stats when this pass began: place -> inode
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

    def unchanged_since_last_run(self, inputs: Set[Identity]) -> set[str]:
        """The places of the files that were as the last run left them when this pass began, and none of the inputs."""
        inodes = {inode for _, inode in inputs}
        return {place for place, inode in self._same.items() if inode not in inodes}

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
        noted = ((place, written.stat) for place, written in self.known.items())
        self._same = {place: stat.inode for place, stat in noted if numbers_of(place) == stat}
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
            self._same.pop(place, None)
            if (now := stat_of(path)) is not None:
                self.known[place] = Written(now, data.digest)

    def surviving(self, since: Moment, clock: Callable[[], Moment]) -> dict[str, Written]:
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
        caller checks many files. The other parameters: as in the function `refusal`."""
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
            self._same.pop(self.place(path), None)
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
