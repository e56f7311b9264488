"""The fixes that are certain, for `fix=1` and for editors; `fix=1` applies them to the spec files.

Each fix replaces one piece of text at the place of its problem. A file is replaced atomically, and all other bytes are
unchanged. Files that are not the author's are left alone: those of an installed package or of a wheel.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import NamedTuple

from gradmill.io.files import read_file, replace_file
from gradmill.problems.locate import misnames_key
from gradmill.problems.problem import SpecError
from gradmill.problems.report import Placed, Report, report_of
from gradmill.session.build import Build
from gradmill.session.settings.config import Config
from gradmill.session.sources import Sources

_INSTALLED = ("site-packages", "dist-packages")
_BOM = b"\xef\xbb\xbf"


class Fix(NamedTuple):
    """A piece of text in a file, and its replacement. Lines and columns count from 1."""

    file: str
    line: int
    column: int
    wrong: str
    right: str

    def __str__(self) -> str:
        wrong = self.wrong if self.wrong.isprintable() else ascii(self.wrong).strip("'")
        what = f"'{wrong}' became '{self.right}'" if self.right else f"'{wrong}' removed"
        return f"{self.file}:{self.line}:{self.column}: fixed: {what}"


def apply_fixes(build: Build) -> tuple[list[str], list[str]]:
    """Applies the fixes that are certain; after that, more may be certain. Returns a line for each applied fix, and one
    for each file that was left alone. SpecError if the files of the set are not the author's, or cannot be written."""
    _check_owned(build)
    report = report_of(build.problems().all, Sources(build.config, build.db))
    wanted: dict[str, set[Fix]] = {}
    for _, fix in certain(report):
        wanted.setdefault(fix.file, set()).add(fix)
    kept = {file: problem for file in wanted if (problem := refusal(build.config, file))}
    done = [str(fix) for file, fixes in wanted.items() if file not in kept for fix in _fix_file(file, fixes)]
    return done, [f"{file}: {problem}; it was not fixed" for file, problem in kept.items()]


def certain(report: Report) -> Iterator[tuple[Placed, Fix]]:
    """The problems with a fix that is certain, each with its fix."""
    for placed in _apart(report.placed):
        place, fix = placed.place, placed.problem.fix
        if fix is not None and place.line and place.column and os.path.isfile(place.file):
            yield placed, Fix(place.file, place.line, place.column, *fix)


def refusal(config: Config, file: str) -> str:
    """Why a file of the set may not be fixed, "" if it may."""
    specs = config.specs
    if _is_foreign(file):
        return "it belongs to an installed package or a wheel"
    if any(str(at) == file and key.endswith(":base") for key, at in specs.files.items()):
        return "it is a file of the base"
    real = os.path.realpath(file)
    own = [os.path.realpath(os.path.dirname(at.path)) for at in specs.files.values() if not at.member]
    if os.path.islink(file) and not any(real.startswith(os.path.join(folder, "")) for folder in own):
        return f"it is a link to {real}, which is outside of the set"
    if not os.stat(real).st_mode & 0o222 or not os.access(real, os.W_OK):
        return "it is read-only"
    return ""


def _apart(placed: Iterable[Placed]) -> Iterator[Placed]:
    """The problems, with at most one misnamed key of each mapping: two such keys may be meant for the same one."""
    seen = set()
    for each in placed:
        mapping = each.place.file, each.problem.entry, each.problem.field[:-1]
        if not misnames_key(each.problem) or mapping not in seen:
            yield each
        if misnames_key(each.problem):
            seen.add(mapping)


def _check_owned(build: Build) -> None:
    """Refuses a set if none of its files is the author's."""
    paths = [str(at) for at in build.config.specs.files.values()]
    if all(map(_is_foreign, paths)):
        raise SpecError(
            f"fix=1: the files of specs={build.config.specs.name} are those of an installed package or of a wheel",
            "they are not yours to edit: copy the set, and name the copy with specs=",
        )


def _is_foreign(path: str) -> bool:
    """Whether a file belongs to an installed package, or is a member of a zip file."""
    parts = (*PurePath(os.path.abspath(path)).parts, *PurePath(os.path.realpath(path)).parts)  # links lead to caches
    return ".whl!" in path or not os.path.lexists(path) or any(part in _INSTALLED for part in parts)


def _fix_file(file: str, fixes: Iterable[Fix]) -> list[Fix]:
    data = read_file(file)
    if data is None:
        return []
    lines = data.split(b"\n")
    done = fix_lines(lines, fixes)
    if done:
        _write(file, b"\n".join(lines))
    return done


def fix_lines(lines: list[bytes], fixes: Iterable[Fix]) -> list[Fix]:
    """Applies fixes to the lines of one file; returns the applied ones, in their order. Skips a fix if its text is
    missing or overlaps another."""
    done: list[Fix] = []
    for fix in sorted(fixes, reverse=True):  # from the end, so that earlier places are unchanged
        above = done[-1] if done else None
        apart = above is None or (fix.line, fix.column + len(fix.wrong)) <= (above.line, above.column)
        line = _replaced(lines, fix) if apart and fix.line <= len(lines) else None
        if line is not None:
            lines[fix.line - 1] = line
            done.append(fix)
    return done[::-1]


def _replaced(lines: list[bytes], fix: Fix) -> bytes | None:
    """The line with the fix applied, None if the text to replace is not there."""
    line = lines[fix.line - 1]
    mark = _BOM if fix.line == 1 and line.startswith(_BOM) else b""
    try:
        text = line[len(mark) :].decode()
    except UnicodeDecodeError:
        return None
    before, rest = text[: fix.column - 1], text[fix.column - 1 :]
    after = rest[len(fix.wrong) :]
    if not rest.startswith(fix.wrong) or _joins(before[-1:], fix.wrong[:1]) or _joins(fix.wrong[-1:], after[:1]):
        return None
    return mark + (before + fix.right + after).encode()


def _joins(left: str, right: str) -> bool:
    """Whether two adjacent characters are part of one word."""
    return all(character == "_" or character.isalnum() for character in (left, right)) if left and right else False


def _write(file: str, data: bytes) -> None:
    target = os.path.realpath(file)  # a link remains a link
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode)
        replace_file(target, data)
        os.chmod(target, mode)
    except OSError as error:
        raise SpecError(f"{file}: {error.strerror}", "it is unchanged") from error
