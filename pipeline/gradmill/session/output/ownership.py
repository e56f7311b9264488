"""Which files are gradmill's: one function decides what may be overwritten or deleted, for runs and for every command.

A link, a folder, a pipe or an input never is, whatever its contents. A file may be overwritten if a record has its
place, or if its head names the source that the generated file has. It is deleted only if a record has its bytes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Set

from gradmill.io.files import read_file
from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError
from gradmill.query.memo import digest

INPUT = "this is an input"
FOREIGN = "there is a file that gradmill did not generate"
CHANGED = "this file was changed after gradmill generated it"
_KINDS = {stat.S_IFLNK: "there is a link, which gradmill did not create", stat.S_IFDIR: "there is a folder"}
_NO_FILE = "there is something that is not a regular file"

_MARK = regex(rb"@ ?generated (?:from|by \S+ from) (\S+)")  # in the first lines of every generated file
_HEAD = 4096
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
    if not stat.S_ISREG(status.st_mode):
        return _KINDS.get(stat.S_IFMT(status.st_mode), _NO_FILE)
    if not deletes:
        return "" if recorded or by_head(head_of(path)) else FOREIGN
    data = read_file(path) if recorded else None
    if data is not None and digest(data) in recorded:
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
    match = _MARK.search(head)
    return match[1].decode(errors="replace") if match is not None else ""


def has_mark(mark: bytes) -> HeadTest:
    """A test for files with `mark` in their head."""
    return lambda head: mark in head


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
