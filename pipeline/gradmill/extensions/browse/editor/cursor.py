"""What is around a place in a spec file: the entry, the path of keys, the word. Lines and columns count from 0."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from gradmill.extensions.browse.editor.outline import KEY, Block, entry_above
from gradmill.model.keys import KEYS, Value, keys_with
from gradmill.problems.problem import Role

_ITEM = re.compile(r"\s*-(?:\s|$)")
_WORD = re.compile(r"\w+")
SCHEMAS = keys_with("schema")
NAMED = re.compile(r"(?:(\w+)::)?([A-Za-z_]\w*)(?:\.(\w+))?")  # namespace, name, overload

Word = tuple[str, int, int]  # the text, and the columns of its start and end


class Cursor(Struct, frozen=True):
    """A place in a spec file, with the text around it."""

    role: Role
    line: int
    column: int
    entry: Block | None  # the last one that starts at the place or above
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
    entry = entry_above(lines, line)
    path, in_value = _path(entry, text, line, column) if entry is not None else ((), False)
    return Cursor(
        role=role,
        line=line,
        column=column,
        entry=entry,
        path=path,
        in_value=in_value,
        text=text,
        word=word_at(text, column, _WORD),
    )


def word_at(text: str, column: int, pattern: re.Pattern[str]) -> Word:
    """The text of `match_at`; an empty word if there is none."""
    match = match_at(text, column, pattern)
    return (match.group(), *match.span()) if match is not None else ("", column, column)


def match_at(text: str, column: int, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """The match of `pattern` around a column, or ending there; None if there is none."""
    return next((match for match in pattern.finditer(text) if match.start() <= column <= match.end()), None)


def operator_at(cursor: Cursor) -> Word:
    """The operator's name at the cursor, with namespace and overload."""
    return word_at(cursor.text, cursor.column, NAMED)


def _path(entry: Block, text: str, line: int, column: int) -> tuple[tuple[str, ...], bool]:
    """The keys around a place, outermost first, and whether the place is in a value."""
    above = [field for field in entry.body.fields if entry.line + field.line <= line]
    if above and entry.line + above[-1].line == line:
        own, key = above[-1], KEY.match(text)
        in_value = key is not None and column > key.end()
        return (*own.path, own.key) if in_value else own.path, in_value
    is_item = bool(_ITEM.match(text))
    indent = len(text) - len(text.lstrip()) + 2 * is_item
    inside = indent if text.strip() else min(indent, column)
    around = next((field for field in reversed(above) if field.start < inside), None)
    return ((*around.path, around.key), around.is_open or is_item) if around is not None else ((), False)
