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


class _Change(Struct, frozen=True):
    kind: str  # a space for context, - or +
    text: str
    line: int  # of the diff


_Hunk = tuple[int, list[_Change], int]  # the first of its old lines, from 0; its changes; the line of its header


def lines_of(text: str) -> list[Line]:
    """The lines of a file before any diff."""
    return [Line(line, 0, number) for number, line in enumerate(text.split("\n"), 1)]


def apply(lines: list[Line], diff: str, number: int, name: str = "") -> list[Line]:
    """The lines after the nth diff; those of context keep their origin. Raises a TextError at a line of the diff if it
    does not apply.

    If the diff changes several files, only its part for the file `name` is applied.
    """
    patched, shift = list(lines), 0
    for start, changes, header in _hunks(diff, name):
        at, cut, own = _placed(patched, changes, start + shift, header)
        end, new = at, []
        for change in own:
            if change.kind == "+":
                new.append(Line(change.text, number, change.line))
                continue
            new += [patched[end]] if change.kind == " " else []
            end += 1
        patched[at:end] = new
        shift = at - cut - start + len(new) - (end - at)
    return patched


def _placed(lines: list[Line], changes: list[_Change], expected: int, header: int) -> tuple[int, int, list[_Change]]:
    """The line where a hunk applies, nearest to the expected one; its changes without context that does not match, and
    how many of these come before.

    Less context before than after means that the hunk is at the start of the file; the reverse, at its end.
    """
    kinds = "".join(change.kind for change in changes)
    starts = len(kinds) - len(kinds.lstrip(" "))
    ends = len(kinds) - len(kinds.rstrip(" ")) if starts < len(kinds) else 0
    most = max(starts, ends)
    last = len(lines) - bool(lines and not lines[-1].text) - sum(kind != "+" for kind in kinds)
    for fuzz in range(min(_FUZZ, most) + 1):
        cut, rest = max(fuzz + starts - most, 0), max(fuzz + ends - most, 0)
        low = last if fuzz + ends < most else -cut
        high = 0 if fuzz + starts < most else last + rest
        own = changes[cut : len(changes) - rest]
        old = [change.text for change in own if change.kind != "+"]
        for at in (place + cut for place in sorted(range(low, high + 1), key=lambda place: abs(place - expected))):
            if at >= 0 and [line.text for line in lines[at : at + len(old)]] == old:
                return at, cut, own
    shown = next((each.text.strip() for each in changes if each.kind != "+" and each.text.strip()), "")
    problem = f"this part of the diff does not apply: the file has no such lines as '{shown}'"
    raise TextError(problem, "recreate the diff from the base's file", header, 1)


def _hunks(diff: str, name: str) -> list[_Hunk]:
    """The hunks for a file. Raises a TextError if there is none."""
    lines, at, file = diff.split("\n"), 0, ""
    by_file: dict[str, list[_Hunk]] = {}
    while at < len(lines):
        head, match = _FILE.match(lines[at]), _HUNK.match(lines[at])
        at += 1
        if head is not None:
            file = head[1].rpartition("/")[2]
            by_file.setdefault(file, [])
        if match is not None:
            sizes = [int(match[group] or 1) for group in (2, 4)]
            changes = _changes(lines, at, sizes)
            by_file.setdefault(file, []).append((int(match[1]) - (sizes[0] > 0), changes, at))
            at = changes[-1].line if changes else at
    if name and name not in by_file and len(by_file) > 1:
        problem = f"none of the files of this diff is called '{name}'"
        raise TextError(problem, f"they are {', '.join(sorted(by_file))}", 1, 1)
    if name and name not in by_file and file in FILE_NAMES.values():
        hint = "name it at the key of that file: native, tags or derivatives"
        raise TextError(f"this is a diff of {file}, not of {name}", hint, 1, 1)
    hunks = by_file.get(name if name in by_file else file)
    if not hunks:
        raise TextError("this is not a unified diff", "write what `diff -u` or `git diff` writes", 1, 1)
    return hunks


def _changes(lines: list[str], at: int, sizes: list[int]) -> list[_Change]:
    """The changes of the hunk whose header is the line before `at`; `sizes`: the number of its old and new lines."""
    changes: list[_Change] = []
    left = list(sizes)
    for number, line in enumerate(lines[at:] if lines[-1] else lines[at:-1], at + 1):
        kind = line[:1] or " "
        if max(left) <= 0 or kind not in " +-\\":
            break
        if kind != "\\":
            left = [left[0] - (kind != "+"), left[1] - (kind != "-")]
            changes.append(_Change(kind, line[1:], number))
    if max(left) > 0:
        done = [size - rest for size, rest in zip(sizes, left)]
        problem = f"a part of {sizes[0]} old and {sizes[1]} new lines ends after {done[0]} and {done[1]}"
        raise TextError(problem, "the diff is cut off, or was edited by hand", at, 1)
    return changes
