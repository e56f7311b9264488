"""Unified diffs of spec files, applied as `patch` does: hunks may stand elsewhere than they say."""

from __future__ import annotations

from msgspec import Struct

from pipeline.model.regex import regex
from pipeline.problems.problem import TextMistake

_HUNK = regex(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FILE = regex(r"\+\+\+ (\S+)")
_FUZZ = 2  # lines of context at either end that may differ, as GNU patch has it


class Line(Struct, frozen=True, gc=False, array_like=True):
    """A line of the text that a diff makes, and where it is from: the file that was changed, 0, or the nth diff."""

    text: str
    file: int
    line: int


class _Hunk(Struct, frozen=True):
    start: int  # of the old lines, from 0
    old: tuple[str, ...]
    new: tuple[tuple[str, int], ...]  # with the lines of the diff that add them, 0 where they were there
    before: int  # lines of context at its start
    after: int
    line: int


def lines_of(text: str) -> list[Line]:
    """The lines of a file that is to be changed."""
    return [Line(line, 0, number) for number, line in enumerate(text.split("\n"), 1)]


def apply(lines: list[Line], diff: str, number: int, name: str = "") -> list[Line]:
    """The lines after the nth diff; a TextMistake, at a line of the diff, where it does not apply.

    Of a diff of several files, the part for the one that is called `name` counts.
    """
    found = list(lines)
    shift = 0
    for hunk in _hunks(diff, name):
        at, cut_before, cut_after = _place(found, hunk, hunk.start + shift)
        old = hunk.old[cut_before : len(hunk.old) - cut_after]
        made = _made(found, hunk, at, number)[cut_before : len(hunk.new) - cut_after]
        found[at + cut_before : at + cut_before + len(old)] = made
        shift = at - hunk.start + len(hunk.new) - len(hunk.old)
    return found


def _made(lines: list[Line], hunk: _Hunk, at: int, number: int) -> list[Line]:
    """The lines that a hunk leaves; those of its context as they are in the file."""
    made = []
    place = at
    for text, added in hunk.new:
        if added:
            made.append(Line(text, number, added))
            continue
        while 0 <= place < len(lines) and lines[place].text != text and place - at < len(hunk.old):
            place += 1
        inside = 0 <= place < len(lines)
        made.append(lines[place] if inside and lines[place].text == text else Line(text, number, hunk.line))
        place += 1
    return made


def _place(lines: list[Line], hunk: _Hunk, expected: int) -> tuple[int, int, int]:
    """Where a hunk applies, nearest to where it is expected, and how many lines of its context are not looked at.

    A hunk that has less context before than behind is from the start of a file, and the other way round.
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
    raise TextMistake(problem, "make the diff anew against the base's file", hunk.line, 1)


def _matches(lines: list[Line], old: tuple[str, ...], at: int) -> bool:
    inside = at >= 0 and at + len(old) <= len(lines)
    return inside and all(lines[at + i].text == text for i, text in enumerate(old))


def _hunks(diff: str, name: str) -> list[_Hunk]:
    lines = diff.split("\n")
    files = {match[1].rpartition("/")[2] for match in map(_FILE.match, lines) if match is not None}
    counts = len(files) < 2 or not name  # whether the part that is looked at is for the file
    found = []
    at = 0
    while at < len(lines):
        file, match = _FILE.match(lines[at]), _HUNK.match(lines[at])
        if file is not None and len(files) > 1 and name:
            counts = file[1].rpartition("/")[2] == name
        if match is None or not counts:
            at += 1
            continue
        size = [int(match[group] or 1) for group in (2, 4)]
        end, hunk = _hunk(lines, at, int(match[1]), size)
        found.append(hunk)
        at = end
    if not found and len(files) > 1:
        raise TextMistake(
            f"of the files of this diff none is called '{name}'", f"they are {', '.join(sorted(files))}", 1, 1
        )
    if not found:
        raise TextMistake("this is no unified diff", "write what `diff -u` or `git diff` writes", 1, 1)
    return found


def _hunk(lines: list[str], at: int, start: int, size: list[int]) -> tuple[int, _Hunk]:
    """One hunk, and the line behind it."""
    old: list[str] = []
    new: list[tuple[str, int]] = []
    kinds = ""
    place = at + 1
    while len(old) < size[0] or len(new) < size[1]:
        line = lines[place] if place < len(lines) else "?"
        kind, text = (line[:1] or " "), line[1:]
        if kind not in " +-\\" or (place == len(lines) - 1 and not line):
            problem = f"a part of {size[0]} old and {size[1]} new lines ends after {len(old)} and {len(new)}"
            raise TextMistake(problem, "the diff is cut off, or was edited by hand", at + 1, 1)
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
