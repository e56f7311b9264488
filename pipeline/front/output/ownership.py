"""What is gradmill's: one function decides what may be written over or deleted, for runs and for every command.

A link, a folder, a pipe and an input never are, whatever they say of themselves. A file is when a record of a run has
it, when it has the bytes that a run would put there, or when it says that it was generated from what this one is.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Set

from pipeline.io.files import read_file
from pipeline.problems.problem import SpecError
from pipeline.query.memo import digest

INPUT = "this is an input"
FOREIGN = "there is a file that gradmill did not make"
CHANGED = "this file was changed since gradmill made it"
_KINDS = {stat.S_IFLNK: "there is a link, which gradmill did not make", stat.S_IFDIR: "there is a folder"}
_NO_FILE = "there is something that is no regular file"

_MARK = re.compile(rb"@ ?generated (?:from|by \S+ from) (\S+)")  # in the first lines of every generated file
_HEAD = 4096
_STAMP = b"gradmill stamp\n"
_MANIFEST = re.compile(rb'\{"format":"manifest/\d+",')

Identity = tuple[int, int]  # device and inode: a file by whatever path, also a link, and in upper or lower case
Says = Callable[[bytes], bool]  # whether the head of a file says that it is a certain file of gradmill's
Knows = Callable[[bytes], bool]  # whether bytes with this digest are those of a certain file of gradmill's


def nothing(_: bytes) -> bool:
    """Of what no file can say, or no record has."""
    return False


def identities(paths: Iterable[str]) -> frozenset[Identity]:
    """The files that paths lead to."""
    found = set()
    for path in paths:
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        found.add((status.st_dev, status.st_ino))
    return frozenset(found)


def refusal(
    path: str,
    inputs: Set[Identity],
    says: Says = nothing,
    knows: Knows = nothing,
    *,
    recorded: bool = False,
    deletes: bool = False,
) -> str:
    """Why a file may not be written over, or deleted, "" where it may or where nothing is there.

    `recorded`: a run left a file at this place. One that was edited or cut since is put back, and never deleted.
    """
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return ""  # what cannot be looked at can be neither written nor deleted: the system reports why
    if inputs and identities([path]) & inputs:
        return INPUT
    if not stat.S_ISREG(status.st_mode):
        return _KINDS.get(stat.S_IFMT(status.st_mode), _NO_FILE)
    if (recorded and not deletes) or says(head_of(path)):
        return ""
    data = read_file(path)
    if data is not None and knows(digest(data)):
        return ""
    return CHANGED if recorded else FOREIGN


def refused(path: str, problem: str, remedy: str = "generated=DIR") -> SpecError:
    """The error about a place; `remedy` is how another one is named."""
    hint = "name another place for the output" if problem == INPUT else f"move it, or name another place: {remedy}"
    return SpecError(f"{path}: {problem}", hint)


# ---- what files say of themselves


def head_of(path: str) -> bytes:
    """The first bytes of a file, none where it cannot be read."""
    return read_file(path, _HEAD) or b""


def source_of(path: str) -> str:
    """What a file says that it was generated from, "" where it says nothing of that."""
    return source_in(head_of(path))


def source_in(head: bytes) -> str:
    """The same of the first bytes of a file."""
    found = _MARK.search(head)
    return found[1].decode(errors="replace") if found is not None else ""


def says(mark: bytes) -> Says:
    """Of files with a certain mark in their head."""
    return lambda head: mark in head


def is_manifest(head: bytes) -> bool:
    """Whether a file is a manifest."""
    return _MANIFEST.match(head) is not None


def is_stamp(head: bytes) -> bool:
    """Whether a file is one that `stamp=` named."""
    return head.startswith(_STAMP)


def is_rule_for(target: str) -> Says:
    """Of depfiles that say what `target`, by whatever path, is made from."""
    name = os.fsencode(os.path.basename(target)).replace(b" ", b"\\ ")
    rule = re.compile(rb"(.*/)?" + re.escape(name) + rb": ")
    return lambda head: rule.match(head) is not None
