"""The entries of a spec file's text, their fields, and the formulas in these. Lines and columns count from 0.

It uses no YAML parser, because a text that is being typed is seldom valid YAML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from gradmill.extensions.browse.editor.operators import name_of
from gradmill.model.keys import ENTRY_KEY, KEYS
from gradmill.problems.problem import Role

KEY = re.compile(r"(\s*(?:-\s+)?)([\w][\w, ]*?)\s*:(?=\s|$)")
_HEADS = "|".join(dict.fromkeys(ENTRY_KEY.values()))
_ENTRY = re.compile(rf"\s*-\s+(?:{_HEADS})\s*:")
_HEAD = re.compile(rf"\s*(?:-\s+)?(?:{_HEADS})\s*:\s*(.*)")
_COMMENT = re.compile(r"\s*#")
_PLAIN_END = re.compile(r"(?:^|\s)#")
_BLOCK = re.compile(r"[|>][-+\d]*\s*(?:#.*)?$")
_RESULT = re.compile(r"result\d*")


class Field(Struct, frozen=True):
    """A key of an entry and its value. Lines count from the entry's first one. `path` are the keys around it."""

    path: tuple[str, ...]
    key: str
    line: int
    start: int  # of the key
    end: int
    value: int  # the column where the value starts; the end of the line if it starts below
    last: int
    is_open: bool  # whether the value starts on the key's line, so that lines below continue it

    @property
    def names(self) -> list[str]:
        """The names in the key."""
        return [name.strip() for name in self.key.split(",")]


class Body(Struct, frozen=True):
    """The text of an entry, without what follows it, and what is in it."""

    text: str
    indent: int  # of the dash
    head: str  # the text of its `name`, `func` or `tag`
    fields: tuple[Field, ...]

    @property
    def operator(self) -> str:
        """The operator that the entry is about."""
        return name_of(self.head)

    @property
    def keys(self) -> list[str]:
        """Its keys, without those of nested mappings."""
        return [field.key for field in self.fields if not field.path]


class Block(Struct, frozen=True):
    """An entry and its lines."""

    line: int
    last: int
    body: Body


class Formula(Struct, frozen=True):
    """A formula of derivatives.yaml, or the call of a deprecated form: its field, and its text with blanks in place of
    all else, from the first line of the field on and with the same lines and columns."""

    body: Body
    field: Field
    text: str

    def place(self, offset: int) -> tuple[int, int]:
        """The line, counted from the entry's first one, and the column of an offset in `text`."""
        return self.field.line + self.text.count("\n", 0, offset), offset - self.text.rfind("\n", 0, offset) - 1

    @property
    def is_forward(self) -> bool:
        """Whether it is a forward formula: its key names no argument."""
        arguments = self.body.head.rpartition(" -> ")[0]
        return not any(re.search(rf"\b{re.escape(name)}\b", arguments) for name in self.field.names)


def outline(lines: Sequence[str]) -> list[Block]:
    """The entries of a text, in its order."""
    starts = [at for at, line in enumerate(lines) if "-" in line and _starts_entry(line)]
    return [_block(lines, start, end) for start, end in zip(starts, [*starts[1:], len(lines)])]


def entry_above(lines: Sequence[str], line: int) -> Block | None:
    """The entry that a line is in, or that is the last one before it; None if there is none."""
    start = next((at for at in range(min(line, len(lines) - 1), -1, -1) if _starts_entry(lines[at])), None)
    if start is None:
        return None
    return _block(
        lines, start, next((at for at in range(start + 1, len(lines)) if _starts_entry(lines[at])), len(lines))
    )


def _starts_entry(line: str) -> bool:
    return bool(_ENTRY.match(line)) or line.startswith("- ") or line == "-"


def _block(lines: Sequence[str], start: int, end: int) -> Block:
    body = _body("\n".join(lines[start:end]))
    return Block(start, start + body.text.count("\n"), body)


@lru_cache(maxsize=1 << 13)  # an edit changes one entry
def _body(text: str) -> Body:
    """The entry at the start of a text."""
    lines = text.split("\n")
    indent, last = len(text) - len(text.lstrip(" ")), 0
    for at, line in enumerate(lines[1:], 1):
        if not line.strip() or _COMMENT.match(line):
            continue
        if len(line) - len(line.lstrip()) <= indent:
            break  # a key of the file
        last = at
    own = lines[: last + 1]
    return Body("\n".join(own), indent, _head_of(own), tuple(_fields(own)))


def _head_of(lines: Sequence[str]) -> str:
    """The schema or name in the lines of an entry; an unfinished one up to what is typed."""
    for at, line in enumerate(lines):
        match = _HEAD.match(line)
        if match:
            text = uncommented(match[1]).strip()
            for each in (each.strip() for each in lines[at + 1 :]):
                if KEY.match(each) or each.startswith("#") or not each:
                    break
                text = f"{text} {each}"
            return text.strip("\"'")
    return ""


def _fields(lines: Sequence[str]) -> Iterator[Field]:
    """The fields of an entry, without those that are text of another one."""
    found: list[tuple[int, tuple[str, ...], re.Match[str], bool]] = []  # line, path, match, whether it is open
    around: list[tuple[int, str, bool]] = []  # indentation, key, whether it is open
    for at, line in enumerate(lines):
        match = KEY.match(line)
        if match is None:
            continue
        around = [each for each in around if each[0] < match.start(2)]
        if around and around[-1][2]:
            continue  # it is in the text of another field
        is_open = bool(_PLAIN_END.split(line[match.end() :])[0].strip())
        found.append((at, tuple(key for _, key, _ in around), match, is_open))
        around.append((match.start(2), match[2], is_open))
    for place, (at, path, match, is_open) in enumerate(found):
        after = (other for other, _, each, _ in found[place + 1 :] if each.start(2) <= match.start(2))
        last = next(after, len(lines)) - 1
        while last > at and (not lines[last].strip() or _COMMENT.match(lines[last])):
            last -= 1
        value = match.end() + len(lines[at][match.end() :]) - len(lines[at][match.end() :].lstrip())
        yield Field(
            path=path,
            key=match[2],
            line=at,
            start=match.start(2),
            end=match.end(2),
            value=value,
            last=last,
            is_open=is_open,
        )


def formulas(role: Role, body: Body) -> list[Formula]:
    """The formulas of an entry."""
    return [formula_of(body, field) for field in body.fields if is_formula(role, body, field)]


def is_formula(role: Role, body: Body, field: Field) -> bool:
    """Whether a field of an entry has a formula, or the call of a deprecated form. Its key names arguments or outputs:
    a vendor's files have other keys, too."""
    own = KEYS.get(role, {}).get(field.key)
    if role != "derivatives" or own is not None:
        return own is not None and own.value == "call"
    known = body.head.partition("(")[2]
    if known and not any(_RESULT.fullmatch(name) or re.search(rf"\b{name}\b", known) for name in field.names):
        return False
    return not field.path or (field.path[0] == "dispatch" and len(field.path) == 2)


def formula_of(body: Body, field: Field) -> Formula:
    """The formula of a field."""
    first, *below = body.text.split("\n")[field.line : field.last + 1]
    value = first[field.value :]
    if _BLOCK.match(value):
        return Formula(body, field, "\n".join([" " * len(first), *below]))
    if value[:1] in ("'", '"'):
        text = "\n".join([value[1:], *below])
        end = _closing(text, value[0])
        inner = text[:end].replace('\\"', ' "') if value[0] == '"' else text[:end].replace("''", " '")
        blank = re.sub(r"[^\n]", " ", text[end:])
        return Formula(body, field, " " * (field.value + 1) + inner + blank)
    plain = [" " * field.value + uncommented(value), *map(uncommented, below)]
    return Formula(body, field, "\n".join(plain))


def _closing(text: str, quote: str) -> int:
    """The offset of the quote that closes a text; the end of the text if there is none."""
    pattern = r'(?:\\.|[^"\\])*+' if quote == '"' else r"(?:''|[^'])*+"
    match = re.match(pattern, text, re.DOTALL)
    return match.end() if match is not None else 0


def uncommented(line: str) -> str:
    """A line without its comment, at the same length."""
    match = _PLAIN_END.search(line)
    return line if match is None else line[: match.start()] + " " * (len(line) - match.start())


def comment_runs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and last lines of each run of several lines of comments."""
    start = None
    for at, line in enumerate((*lines, "")):
        if _COMMENT.match(line):
            start = at if start is None else start
        else:
            if start is not None and at - start > 1:
                yield start, at - 1
            start = None
