"""Applies unified diffs to spec files as `patch` does: a hunk may apply at other lines than its header names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

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


class _Change(Struct, frozen=True):
    kind: str  # a space for context, - or +
    text: str
    line: int  # of the diff


class _Hunk(Struct, frozen=True):
    start: int  # of the old lines, from 0
    changes: list[_Change]
    line: int  # line of its header in the diff

    @property
    def context(self) -> tuple[int, int]:
        """How many lines of context are at its start, and at its end."""
        kinds = [change.kind for change in self.changes]
        before, after = (len([*takewhile(" ".__eq__, each)]) for each in (kinds, reversed(kinds)))
        return before, after if before < len(kinds) else 0


def lines_of(text: str) -> list[Line]:
    """The lines of a file before any diff."""
    return [Line(line, 0, number) for number, line in enumerate(text.split("\n"), 1)]


def apply(lines: list[Line], diff: str, number: int, name: str = "") -> list[Line]:
    """The lines after the nth diff; those of context keep their origin. Raises a TextError at a line of the diff if it
    does not apply.

    If the diff changes several files, only its part for the file `name` is applied.
    """
    patched = list(lines)
    shift = 0
    for hunk in _hunks(diff, name):
        at, changes = _placed(patched, hunk, hunk.start + shift)
        end, new = at, []
        for change in changes:
            if change.kind == "+":
                new.append(Line(change.text, number, change.line))
                continue
            new += [patched[end]] if change.kind == " " else []
            end += 1
        patched[at:end] = new
        cut = hunk.changes.index(changes[0]) if changes else 0
        shift = at - cut - hunk.start + len(new) - (end - at)
    return patched


def _placed(lines: list[Line], hunk: _Hunk, expected: int) -> tuple[int, list[_Change]]:
    """The line where a hunk applies, nearest to the expected one, and its changes without context that does not match.

    Less context before than after means that the hunk is at the start of the file; the reverse, at its end.
    """
    starts, ends = hunk.context
    most = max(starts, ends)
    last = len(lines) - (not lines[-1].text) - sum(change.kind != "+" for change in hunk.changes)
    for fuzz in range(min(_FUZZ, most) + 1):
        before, after = fuzz + starts - most, fuzz + ends - most
        places = range(-max(before, 0), last + max(after, 0) + 1)
        if before < 0:
            places = range(1)
        elif after < 0:
            places = range(last, last + 1)
        before, after = max(before, 0), max(after, 0)
        changes = hunk.changes[before : len(hunk.changes) - after]
        old = [change.text for change in changes if change.kind != "+"]
        for at in (place + before for place in sorted(places, key=lambda place: abs(place - expected))):
            if at >= 0 and [line.text for line in lines[at : at + len(old)]] == old:
                return at, changes
    shown = next((each.text.strip() for each in hunk.changes if each.kind != "+" and each.text.strip()), "")
    problem = f"this part of the diff does not apply: the file has no such lines as '{shown}'"
    raise TextError(problem, "recreate the diff from the base's file", hunk.line, 1)


def _hunks(diff: str, name: str) -> Iterator[_Hunk]:
    lines = diff.split("\n")
    files = {match[1].rpartition("/")[2] for match in map(_FILE.match, lines) if match is not None}
    if name and len(files) == 1 and not files & {name} and (other := files & set(FILE_NAMES.values())):
        hint = "name it at the key of that file: native, tags or derivatives"
        raise TextError(f"this is a diff of {other.pop()}, not of {name}", hint, 1, 1)
    all_selected = len(files) < 2 or not name
    if not all_selected and name not in files:
        problem = f"none of the files of this diff is called '{name}'"
        raise TextError(problem, f"they are {', '.join(sorted(files))}", 1, 1)
    selected, at, found = all_selected, 0, False
    while at < len(lines):
        file, match = _FILE.match(lines[at]), _HUNK.match(lines[at])
        if file is not None and not all_selected:
            selected = file[1].rpartition("/")[2] == name
        at += 1
        if match is not None and selected:
            sizes = [int(match[group] or 1) for group in (2, 4)]
            changes = _changes(lines, at, sizes)
            found = True
            yield _Hunk(int(match[1]) - (sizes[0] > 0), changes, at)
            at = changes[-1].line if changes else at
    if not found:
        raise TextError("this is not a unified diff", "write what `diff -u` or `git diff` writes", 1, 1)


def _changes(lines: list[str], at: int, sizes: list[int]) -> list[_Change]:
    """The changes of the hunk whose header is the line before `at`; `sizes`: the number of its old and new lines."""
    changes: list[_Change] = []
    left = list(sizes)
    for place in range(at, len(lines) + 1):
        if left[0] <= 0 and left[1] <= 0:
            break
        line = lines[place] if place < len(lines) else "?"
        kind = line[:1] or " "
        if kind not in " +-\\" or (place == len(lines) - 1 and not line):
            done = [size - rest for size, rest in zip(sizes, left)]
            problem = f"a part of {sizes[0]} old and {sizes[1]} new lines ends after {done[0]} and {done[1]}"
            raise TextError(problem, "the diff is cut off, or was edited by hand", at, 1)
        if kind != "\\":
            left = [left[0] - (kind != "+"), left[1] - (kind != "-")]
            changes.append(_Change(kind, line[1:], place + 1))
    return changes
