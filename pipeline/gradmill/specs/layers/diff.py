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


_Change = tuple[str, Line]  # a space for context, - or +
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
    for start, changes, header in _of_file(_hunks(diff, number), name):
        place = end = _placed(patched, changes, start + shift, header)
        new, size = [], len(patched)
        for kind, line in changes:
            if kind == "+":
                new.append(line)
            elif kind == " " and end >= 0:  # the first context may be above the file
                new += patched[end : end + 1]
            end += kind != "+"
        patched[max(place, 0) : end] = new
        shift = place - start + len(patched) - size
    return patched


def _placed(lines: list[Line], changes: list[_Change], expected: int, header: int) -> int:
    """The line where a hunk applies, nearest to the expected one, from 0; below 0 if the file lacks its first context.

    Less context before than after means that the hunk is at the start of the file; the reverse, at its end.
    """
    kinds = "".join(kind for kind, _ in changes)
    starts = len(kinds) - len(kinds.lstrip(" "))
    ends = len(kinds) - len(kinds.rstrip(" ")) if starts < len(kinds) else 0
    most = max(starts, ends)
    last = len(lines) - bool(lines and not lines[-1].text) - sum(kind != "+" for kind in kinds)
    for fuzz in range(min(_FUZZ, most) + 1):
        cut, rest = max(fuzz + starts - most, 0), max(fuzz + ends - most, 0)
        low = last if fuzz + ends < most else -cut
        high = 0 if fuzz + starts < most else last + rest
        old = [line.text for kind, line in changes[cut : len(changes) - rest] if kind != "+"]
        for place in sorted(range(low, high + 1), key=lambda place: abs(place - expected)):
            at = place + cut
            if at >= 0 and [line.text for line in lines[at : at + len(old)]] == old:
                return place
    shown = next((line.text.strip() for kind, line in changes if kind != "+" and line.text.strip()), "")
    problem = f"this part of the diff does not apply: the file has no such lines as '{shown}'"
    raise TextError(problem, "recreate the diff from the base's file", header, 1)


def _hunks(diff: str, number: int) -> dict[str, list[_Hunk]]:
    """The hunks of the nth diff by the name of their file. Raises a TextError for one that is cut off."""
    by_file: dict[str, list[_Hunk]] = {}
    file, sizes, left = "", (0, 0), (0, 0)  # of the last hunk: how many old and new lines it has, and how many are left
    for at, line in enumerate(diff.removesuffix("\n").split("\n"), 1):
        kind = line[:1] or " "
        if max(left) > 0 and kind not in " +-\\":
            break
        if max(left) > 0 and kind != "\\":
            left = left[0] - (kind != "+"), left[1] - (kind != "-")
            by_file[file][-1][1].append((kind, Line(line[1:], number, at)))
        elif max(left) <= 0 and (head := _FILE.match(line)):
            file = head[1].rpartition("/")[2]
            by_file.setdefault(file, [])
        elif max(left) <= 0 and (match := _HUNK.match(line)):
            sizes = left = int(match[2] or 1), int(match[4] or 1)
            by_file.setdefault(file, []).append((int(match[1]) - (sizes[0] > 0), [], at))
    if max(left) > 0:
        done = [size - rest for size, rest in zip(sizes, left)]
        problem = f"a part of {sizes[0]} old and {sizes[1]} new lines ends after {done[0]} and {done[1]}"
        raise TextError(problem, "the diff is cut off, or was edited by hand", by_file[file][-1][2], 1)
    return by_file


def _of_file(by_file: dict[str, list[_Hunk]], name: str) -> list[_Hunk]:
    """The hunks for a file, or for the only one if it has another name. Raises a TextError if there are none."""
    file = name if name in by_file else next(iter(by_file), "")
    if file != name and len(by_file) > 1:
        problem = f"none of the files of this diff is called '{name}'"
        raise TextError(problem, f"they are {', '.join(sorted(by_file))}", 1, 1)
    if file != name and file in FILE_NAMES.values():
        hint = "name it at the key of that file: native, tags or derivatives"
        raise TextError(f"this is a diff of {file}, not of {name}", hint, 1, 1)
    if not by_file.get(file):
        raise TextError("this is not a unified diff", "write what `diff -u` or `git diff` writes", 1, 1)
    return by_file[file]
