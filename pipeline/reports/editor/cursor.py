"""Parses the text around a place in a spec file: the entry, the path of keys, the word. It uses no YAML parser, because
a text that is being typed is seldom valid YAML. Lines and columns count from 0."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from pipeline.model.keys import HEADS, KEYS, Value, keys_with
from pipeline.problems.problem import Role

_ITEM = re.compile(r"(\s*)-(?:\s|$)")
_HEADS = "|".join(dict.fromkeys(HEADS.values()))
_ENTRY = re.compile(rf"(\s*)-\s+(?:{_HEADS})\s*:")
KEY = re.compile(r"(\s*(?:-\s+)?)([\w][\w, ]*?)\s*:(?=\s|$)")
_HEAD = re.compile(rf"\s*(?:-\s+)?(?:{_HEADS})\s*:\s*(.*)")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_WORD = re.compile(r"\w+")
SCHEMAS = keys_with("schema")
OPERATOR = re.compile(r"(?:\w+::)?[A-Za-z_]\w*(?:\.\w+)?")

Word = tuple[str, int, int]  # the text, and the columns of its start and end


class Entry(Struct, frozen=True):
    """The text of an entry: its first line, and its lines."""

    start: int
    lines: tuple[str, ...]
    indent: int  # of the keys

    @property
    def head(self) -> str:
        """The schema or name of the entry; an unfinished one up to what is typed."""
        return head_of(self.lines)

    @property
    def keys(self) -> list[str]:
        """Its keys, without those of nested mappings."""
        matches = (KEY.match(line) for line in self.lines)
        return [match[2] for match in matches if match and len(match[1]) == self.indent]


class Cursor(Struct, frozen=True):
    """A place in a spec file, with the text around it."""

    role: Role
    line: int
    column: int
    entry: Entry | None  # None above the first entry
    path: tuple[str, ...]  # the keys around the place, outermost first; includes the key of the value it is in
    in_value: bool  # False: the place is in a key, or where a key may be typed
    text: str  # its line
    word: Word

    @property
    def value(self) -> Value | None:
        """What the value of the entry's key around the place is; None outside of an entry's own keys."""
        key = KEYS.get(self.role, {}).get(self.path[0]) if self.path else None
        return key.value if key is not None else None

    @property
    def is_in_operators(self) -> bool:
        """Whether the place is in a value that names operators."""
        return self.in_value and self.value in ("operator", "operators")

    @property
    def needs_space(self) -> bool:
        """Whether the cursor directly follows a dash or a key's colon, where YAML needs a space first."""
        match = KEY.match(self.text)
        return (match is not None and match.end() == self.column) or self.text[: self.column].lstrip() == "-"

    @property
    def is_at_margin(self) -> bool:
        """Whether the word is all that its line contains, without indentation."""
        return not self.word[1] and self.text.rstrip() == self.word[0]

    @property
    def is_behind_dash(self) -> bool:
        """Whether only a dash precedes the word."""
        return self.text[: self.word[1]].strip() == "-"


def line_with(*values: Value) -> re.Pattern[str]:
    """A pattern for the start of a line with a key whose value is one of these: the key is its group."""
    return re.compile(rf"\s*(?:-\s+)?({'|'.join(keys_with(*values))})\s*:\s*[\"']?")


def cursor_at(role: Role, lines: Sequence[str], line: int, column: int) -> Cursor:
    """The text around a place, for the file with role `role`."""
    text = lines[line] if line < len(lines) else ""
    column = min(column, len(text))
    entry = entry_at(lines, line)
    path, in_value = _path(entry, line, column) if entry is not None else ((), False)
    return Cursor(role, line, column, entry, path, in_value, text, word_at(text, column, _WORD))


def entry_at(lines: Sequence[str], line: int) -> Entry | None:
    """The entry around a line. Items of lists inside an entry do not count as entries."""
    start = next((at for at in range(min(line, len(lines) - 1), -1, -1) if starts_entry(lines[at])), None)
    if start is None:
        return None
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines) and not (starts_entry(lines[end]) and _indent(lines[end]) <= indent):
        end += 1
    own = list(lines[start:end])
    while len(own) > 1 and not own[-1].strip() and start + len(own) - 1 > line:
        own.pop()
    return Entry(start, tuple(own), indent + 2)


def word_at(text: str, column: int, pattern: re.Pattern[str]) -> Word:
    """The match of `pattern` around a column, or ending there; an empty word if there is none."""
    for match in pattern.finditer(text):
        if match.start() <= column <= match.end():
            return match.group(), match.start(), match.end()
    return "", column, column


def operator_at(cursor: Cursor) -> Word:
    """The operator's name at the cursor, with namespace and overload."""
    return word_at(cursor.text, cursor.column, OPERATOR)


def head_of(lines: Sequence[str]) -> str:
    """The schema or name in the lines of an entry; an unfinished one up to what is typed."""
    for at, line in enumerate(lines):
        match = _HEAD.match(line)
        if match:
            more = (each.strip() for each in lines[at + 1 :])
            text = _uncommented(match[1]).strip()
            for each in more:
                if KEY.match(each) or each.startswith("#") or not each:
                    break
                text = f"{text} {each}"
            return text.strip("\"'")
    return ""


def starts_entry(line: str) -> bool:
    """Whether a line starts an entry."""
    return bool(_ENTRY.match(line)) or line.startswith("- ") or line == "-"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _path(entry: Entry, line: int, column: int) -> tuple[tuple[str, ...], bool]:
    """The keys around a place, outermost first, and whether the place is in a value."""
    stack: list[tuple[int, str, bool]] = []  # indentation, key, whether its value begins on the key's line
    for at, text in enumerate(entry.lines[: line - entry.start + 1]):
        here = at == line - entry.start
        match = KEY.match(text)
        indent = len(match[1]) if match else _indent(text) + 2 * bool(_ITEM.match(text))
        if match and (not here or column >= match.end() + 1):
            stack = [each for each in stack if each[0] < indent]
            stack.append((indent, match[2].strip(), bool(_uncommented(text[match.end() :]).strip())))
            if here:
                return tuple(key for _, key, _ in stack), True
        elif here:
            around = [each for each in stack if each[0] < (min(indent, column) if not text.strip() else indent)]
            goes_on = bool(around) and (around[-1][2] or bool(_ITEM.match(text)))
            goes_on &= not match
            return tuple(key for _, key, _ in around), goes_on and len(around) > 0
    return (), False


def _uncommented(text: str) -> str:
    return _COMMENT.sub("", text)
