"""What stands at a place of a spec file's text: the entry, the path of keys, the word. Plain text, no YAML parser: a
text that is being typed is seldom YAML. Lines and columns count from 0."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from pipeline.problems.problem import Role

_ITEM = re.compile(r"(\s*)-(?:\s|$)")
_ENTRY = re.compile(r"(\s*)-\s+(?:func|name|tag)\s*:")
_KEY = re.compile(r"(\s*(?:-\s+)?)([\w][\w, ]*?)\s*:(?=\s|$)")
_HEAD = re.compile(r"\s*(?:-\s+)?(?:func|name|tag)\s*:\s*(.*)")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_WORD = re.compile(r"\w+")
OPERATOR = re.compile(r"(?:\w+::)?[A-Za-z_]\w*(?:\.\w+)?")

Word = tuple[str, int, int]  # and where it starts and ends in its line


class Entry(Struct, frozen=True):
    """The text of an entry: from which line on, and its lines."""

    start: int
    lines: tuple[str, ...]
    indent: int  # of the keys

    @property
    def head(self) -> str:
        """What names it: the schema, as far as it is written."""
        for at, line in enumerate(self.lines):
            found = _HEAD.match(line)
            if found:
                more = (each.strip() for each in self.lines[at + 1 :])
                text = _uncommented(found[1]).strip()
                for each in more:
                    if _KEY.match(each) or each.startswith("#") or not each:
                        break
                    text = f"{text} {each}"
                return text.strip("\"'")
        return ""

    @property
    def keys(self) -> list[str]:
        """Its keys, those of mappings within it left out."""
        found = (_KEY.match(line) for line in self.lines)
        return [match[2] for match in found if match and len(match[1]) == self.indent]


class Cursor(Struct, frozen=True):
    """A place in a spec file."""

    role: Role
    line: int
    column: int
    entry: Entry | None  # None above the first one
    path: tuple[str, ...]  # the keys around it, the entry's own first; its own key last where it is in a value
    in_value: bool  # else in a key, or where one may stand
    text: str  # its line
    word: Word

    @property
    def needs_space(self) -> bool:
        """Whether it is right behind a dash or the colon of a key, where a space has to be first."""
        found = _KEY.match(self.text)
        return (found is not None and found.end() == self.column) or self.text[: self.column].lstrip() == "-"

    @property
    def is_at_margin(self) -> bool:
        """Whether its word is all there is in the line, and begins it."""
        return not self.word[1] and self.text.rstrip() == self.word[0]

    @property
    def is_behind_dash(self) -> bool:
        """Whether a dash is all that stands before its word."""
        return self.text[: self.word[1]].strip() == "-"


def cursor_at(role: Role, lines: Sequence[str], line: int, column: int) -> Cursor:
    """What is at a place."""
    text = lines[line] if line < len(lines) else ""
    column = min(column, len(text))
    entry = entry_at(lines, line)
    path, in_value = _path(entry, line, column) if entry is not None else ((), False)
    return Cursor(role, line, column, entry, path, in_value, text, word_at(text, column, _WORD))


def entry_at(lines: Sequence[str], line: int) -> Entry | None:
    """The entry that a line is in; an item of a list within it is none."""
    start = next((at for at in range(min(line, len(lines) - 1), -1, -1) if _starts(lines[at])), None)
    if start is None:
        return None
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines) and not (_starts(lines[end]) and _indent(lines[end]) <= indent):
        end += 1
    found = list(lines[start:end])
    while len(found) > 1 and not found[-1].strip() and start + len(found) - 1 > line:
        found.pop()
    return Entry(start, tuple(found), indent + 2)


def word_at(text: str, column: int, pattern: re.Pattern[str]) -> Word:
    """The word around a column, or that ends there; an empty one where there is none."""
    for match in pattern.finditer(text):
        if match.start() <= column <= match.end():
            return match.group(), match.start(), match.end()
    return "", column, column


def operator_at(cursor: Cursor) -> Word:
    """The operator's name around the cursor, with namespace and overload."""
    return word_at(cursor.text, cursor.column, OPERATOR)


def heads(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Where entries start, and what names each, as far as it stands in that line."""
    found = ((at, _HEAD.match(line)) for at, line in enumerate(lines) if _ENTRY.match(line))
    return [(at, _uncommented(match[1]).strip().strip("\"'")) for at, match in found if match]


def _starts(line: str) -> bool:
    return bool(_ENTRY.match(line)) or line.startswith("- ") or line == "-"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _path(entry: Entry, line: int, column: int) -> tuple[tuple[str, ...], bool]:
    """The keys around a place, and whether it is in a value."""
    stack: list[tuple[int, str, bool]] = []  # indentation, key, whether its value begins in its line
    for at, text in enumerate(entry.lines[: line - entry.start + 1]):
        here = at == line - entry.start
        found = _KEY.match(text)
        indent = len(found[1]) if found else _indent(text) + 2 * bool(_ITEM.match(text))
        if found and (not here or column >= found.end() + 1):
            stack = [each for each in stack if each[0] < indent]
            stack.append((indent, found[2].strip(), bool(_uncommented(text[found.end() :]).strip())))
            if here:
                return tuple(key for _, key, _ in stack), True
        elif here:
            around = [each for each in stack if each[0] < (min(indent, column) if not text.strip() else indent)]
            goes_on = bool(around) and (around[-1][2] or bool(_ITEM.match(text)))
            goes_on &= not found
            return tuple(key for _, key, _ in around), goes_on and len(around) > 0
    return (), False


def _uncommented(text: str) -> str:
    return _COMMENT.sub("", text)
