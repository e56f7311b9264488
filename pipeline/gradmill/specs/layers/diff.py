"""Applies unified diffs to spec files as `patch` does: a hunk may apply at other lines than its header names."""

from __future__ import annotations

from msgspec import Struct

from gradmill.model.regex import regex
from gradmill.problems.problem import TextError
from gradmill.specs.spec_set import FILE_NAMES

_HUNK = regex(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FILE = regex(r"\+\+\+ (\S+)")
_FUZZ = 2  # lines of context at either end that may differ, as GNU patch has it


class Line(Struct, frozen=True, gc=False, array_like=True):
    """A line of the patched text, and its origin: the patched file (0) or the nth diff, and the line number there."""

    text: str
    file: int
    line: int


class _Hunk(Struct, frozen=True):
    start: int  # of the old lines, from 0
    old: tuple[str, ...]
    new: tuple[tuple[str, int], ...]  # text, and the line of the diff that adds it; 0 for lines of context
    before: int  # lines of context at its start
    after: int  # lines of context at its end
    line: int  # line of its header in the diff


def lines_of(text: str) -> list[Line]:
    """The lines of a file before any diff."""
    return [Line(line, 0, number) for number, line in enumerate(text.split("\n"), 1)]


def apply(lines: list[Line], diff: str, number: int, name: str = "") -> list[Line]:
    """The lines after the nth diff. Raises a TextError at a line of the diff if it does not apply.

    If the diff changes several files, only its part for the file `name` is applied.
    """
    patched = list(lines)
    shift = 0
    for hunk in _hunks(diff, name):
        at, cut_before, cut_after = _place(patched, hunk, hunk.start + shift)
        old = hunk.old[cut_before : len(hunk.old) - cut_after]
        new = _new_lines(patched, hunk, at, number)[cut_before : len(hunk.new) - cut_after]
        patched[at + cut_before : at + cut_before + len(old)] = new
        shift = at - hunk.start + len(hunk.new) - len(hunk.old)
    return patched


def _new_lines(lines: list[Line], hunk: _Hunk, at: int, number: int) -> list[Line]:
    """The new lines of a hunk; lines of context keep their origin."""
    new = []
    place = at
    for text, added in hunk.new:
        if added:
            new.append(Line(text, number, added))
            continue
        while 0 <= place < len(lines) and lines[place].text != text and place - at < len(hunk.old):
            place += 1
        inside = 0 <= place < len(lines)
        new.append(lines[place] if inside and lines[place].text == text else Line(text, number, hunk.line))
        place += 1
    return new


def _place(lines: list[Line], hunk: _Hunk, expected: int) -> tuple[int, int, int]:
    """The line where a hunk applies, nearest to the expected one, and how many lines of context to ignore at each end.

    Less context before than after means that the hunk is at the start of the file; the reverse, at its end.
    """
    context = max(hunk.before, hunk.after)
    end = len(lines) - (not lines[-1].text) - len(hunk.old)
    for fuzz in range(min(_FUZZ, context) + 1):
        before, after = fuzz + hunk.before - context, fuzz + hunk.after - context
        places = range(-max(before, 0), end + max(after, 0) + 1)
        if before < 0:
            places = range(1)
        elif after < 0:
            places = range(end, end + 1)
        before, after = max(before, 0), max(after, 0)
        old = hunk.old[before : len(hunk.old) - after]
        for at in sorted(places, key=lambda place: abs(place - expected)):
            if _matches(lines, old, at + before):
                return at, before, after
    shown = next((text.strip() for text in hunk.old if text.strip()), "")
    problem = f"this part of the diff does not apply: the file has no such lines as '{shown}'"
    raise TextError(problem, "recreate the diff from the base's file", hunk.line, 1)


def _matches(lines: list[Line], old: tuple[str, ...], at: int) -> bool:
    inside = at >= 0 and at + len(old) <= len(lines)
    return inside and all(lines[at + i].text == text for i, text in enumerate(old))


def _hunks(diff: str, name: str) -> list[_Hunk]:
    lines = diff.split("\n")
    files = {match[1].rpartition("/")[2] for match in map(_FILE.match, lines) if match is not None}
    if name and len(files) == 1 and not files & {name} and (other := files & set(FILE_NAMES.values())):
        hint = "name it at the key of that file: native, tags or derivatives"
        raise TextError(f"this is a diff of {other.pop()}, not of {name}", hint, 1, 1)
    selected = len(files) < 2 or not name  # whether the current part is for the file `name`
    hunks = []
    at = 0
    while at < len(lines):
        file, match = _FILE.match(lines[at]), _HUNK.match(lines[at])
        if file is not None and len(files) > 1 and name:
            selected = file[1].rpartition("/")[2] == name
        if match is None or not selected:
            at += 1
            continue
        size = [int(match[group] or 1) for group in (2, 4)]
        end, hunk = _hunk(lines, at, int(match[1]), size)
        hunks.append(hunk)
        at = end
    if not hunks and len(files) > 1:
        raise TextError(
            f"none of the files of this diff is called '{name}'", f"they are {', '.join(sorted(files))}", 1, 1
        )
    if not hunks:
        raise TextError("this is not a unified diff", "write what `diff -u` or `git diff` writes", 1, 1)
    return hunks


def _hunk(lines: list[str], at: int, start: int, size: list[int]) -> tuple[int, _Hunk]:
    """The index of the line after the hunk, and the hunk; `size` is the number of its old and new lines."""
    old: list[str] = []
    new: list[tuple[str, int]] = []
    kinds = ""
    place = at + 1
    while len(old) < size[0] or len(new) < size[1]:
        line = lines[place] if place < len(lines) else "?"
        kind, text = (line[:1] or " "), line[1:]
        if kind not in " +-\\" or (place == len(lines) - 1 and not line):
            problem = f"a part of {size[0]} old and {size[1]} new lines ends after {len(old)} and {len(new)}"
            raise TextError(problem, "the diff is cut off, or was edited by hand", at + 1, 1)
        if kind in " -":
            old.append(text)
        if kind in " +":
            new.append((text, place + 1 if kind == "+" else 0))
        kinds += kind.replace("\\", "")
        place += 1
    before = len(kinds) - len(kinds.lstrip(" "))
    after = len(kinds) - len(kinds.rstrip(" ")) if kinds.strip() else 0
    first = start - 1 if size[0] else start
    return place, _Hunk(first, tuple(old), tuple(new), before, after, at + 1)
