"""Text with holes, filled the way upstream's templates are.

`$name` or `${name}` is a hole. Alone after the white space that starts a line it takes a block: every line of its
value, or of every item of a list, indented to that depth. Elsewhere a list is joined by commas; `${,name}` and
`${name,}` put a comma before or after a list that is not empty. White space and line ends are those of Python's `str`:
form feeds and the like among them. Rules: torchgen.code_template.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from pipeline.specs.text import decode_text

Value = str | int | Sequence[str]

_HOLE = re.compile(r"\$([^\d\W]\w*|\{,?[^\d\W]\w*,?\})")


class Hole(Struct, frozen=True):
    """A place to fill: the indentation of its block (None: inline), and whether commas surround a list."""

    name: str
    indent: str | None
    comma_before: bool
    comma_after: bool


def template_text(data: bytes) -> str:
    """The text of a template file: UTF-8 with `\\n` line ends. A byte-order mark is a character like others."""
    return decode_text(data, keep_mark=True)


class Template:
    """A parsed template: text and holes in turn. `trim`: white space at the ends of a block's lines is removed."""

    def __init__(self, text: str, *, trim: bool = True) -> None:
        self._trim = trim
        self.parts: list[str | Hole] = []
        position = 0
        for match in _HOLE.finditer(text):
            indent = _indentation(text, position, match.start())
            self.parts += [text[position : match.start() - len(indent or "")], _hole(match[1], indent)]
            position = match.end()
        self.parts.append(text[position:])

    @property
    def names(self) -> set[str]:
        """The names of all holes."""
        return {part.name for part in self.parts if isinstance(part, Hole)}

    def fill(self, values: Mapping[str, Value]) -> str:
        """The text with every hole filled; a KeyError for a name that `values` lacks."""
        return "".join(self.filled(values))

    def filled(self, values: Mapping[str, Value]) -> list[str]:
        """The same in parts: text and holes in turn, as in `parts`."""
        trim = self._trim
        return [part if isinstance(part, str) else _filled(part, values, trim) for part in self.parts]


def _indentation(text: str, after: int, place: int) -> str | None:
    """The white space from the start of a line to a place, None where there is more. The last hole ends at `after`."""
    start = text.rfind("\n", after, place) + 1
    if not start and after:
        return None
    found = text[start:place]
    return found if not found or found.isspace() else None


def _hole(name: str, indent: str | None) -> Hole:
    name = name.strip("{}")
    return Hole(name.strip(","), indent, name.startswith(","), name.endswith(","))


def _filled(hole: Hole, values: Mapping[str, Value], trim: bool) -> str:
    value = values[hole.name]
    if hole.indent is not None:
        return block(_items(value), hole.indent, trim=trim)
    if isinstance(value, (str, int)):
        return str(value)
    joined = ", ".join(value)
    return f"{', ' if hole.comma_before else ''}{joined}{', ' if hole.comma_after else ''}" if value else ""


def _items(value: Value) -> Sequence[str]:
    return [str(value)] if isinstance(value, (str, int)) else value


def block(items: Sequence[str], indent: str, *, trim: bool) -> str:
    """The lines of all items, indented; white space at the end of the block removed."""
    if not items or items == [""]:
        return ""
    return "\n".join([line for item in items for line in _indented(item.splitlines(), indent, trim)]).rstrip()


def indented(text: str, indent: str, *, trim: bool) -> str:
    """Tidied text, as it stands in a block of that indentation."""
    return "\n".join(_indented(text.split("\n"), indent, trim))


def _indented(lines: Iterable[str], indent: str, trim: bool) -> list[str]:
    if not trim:
        return [indent + line for line in lines]
    found = [indent + line if line and not line.isspace() else "" for line in lines]
    if indent.strip(" \t"):  # what starts a line may end one, as a form feed does
        found = [part for line in found for part in line.splitlines() or [""]]
    return [line.rstrip() for line in found]


def tidy(text: str, *, trim: bool) -> str:
    """`text` as it stands in a block without indentation; items so treated may be given as `Lines`."""
    return "\n".join(line.rstrip() for line in text.splitlines()) if trim else "\n".join(text.splitlines())
