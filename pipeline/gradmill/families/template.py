"""Text with holes, filled as upstream's templates are.

`$name` or `${name}` is a hole. A hole that follows only white space on its line takes a block: every line of its value,
or of every item of a list, indented to that depth. Elsewhere a list is joined by commas; `${,name}` and `${name,}` put
a comma before or after a list that is not empty. White space and line ends are those of Python's `str`, which include
form feeds.

torchgen: `code_template.CodeTemplate.substitute`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError, nearest
from gradmill.specs.text import decode_text

Value = str | int | Sequence[str]

# Marks an omitted line that leaves its white space behind. It is removed after blocks are trimmed.
GAP = "\x1a"

# Separates the items that a unit adds to a list of upstream's: in a block they are lines, elsewhere commas join them.
_ITEM = "\x1a\x1e"

_HOLE = regex(r"\$([^\d\W]\w*|\{,?[^\d\W]\w*,?\})")


class Hole(Struct, frozen=True):
    """A place to fill: the indentation of its block (None: inline), and whether commas surround a list."""

    name: str
    indent: str | None
    comma_before: bool
    comma_after: bool


def template_text(data: bytes) -> str:
    """The text of a template file: UTF-8 with `\\n` line ends. A byte-order mark is kept as a character."""
    return decode_text(data, keep_mark=True)


class Template:
    """A parsed template: alternating text and holes. `trim`: remove white space at the end of each line of a block;
    `blocks`: a hole alone on its line takes indented lines."""

    def __init__(self, text: str, *, trim: bool = True, blocks: bool = True) -> None:
        self._trim = trim
        self.parts: list[str | Hole] = []
        position = 0
        for match in _HOLE.finditer(text):
            indent = _indentation(text, position, match.start()) if blocks else None
            self.parts += [text[position : match.start() - len(indent or "")], _hole(match[1], indent)]
            position = match.end()
        self.parts.append(text[position:])
        self._texts = [part if isinstance(part, str) else "" for part in self.parts]
        places: dict[Hole, list[int]] = {}
        for place, part in enumerate(self.parts):
            if isinstance(part, Hole):
                places.setdefault(part, []).append(place)
        # Each hole, the prefix that is enough for one line of text (None: the general path is needed), its places.
        self._holes = [(hole, _simple(hole), indices) for hole, indices in places.items()]

    @property
    def names(self) -> set[str]:
        """The names of all holes."""
        return {hole.name for hole, _, _ in self._holes}

    def is_block(self, name: str) -> bool:
        """Whether a hole is there once, on its own line: pieces are then printed there unchanged."""
        own = [part for part in self.parts if isinstance(part, Hole) and part.name == name]
        return len(own) == 1 and own[0].indent is not None

    def fill_some(self, values: Mapping[str, str]) -> str:
        """The text with some of the holes filled."""
        return self.fill({name: values.get(name, f"${{{name}}}") for name in self.names})

    def fill(self, values: Mapping[str, Value]) -> str:
        """The text with every hole filled. Raises KeyError for a name that `values` lacks."""
        texts = self._texts.copy()
        for hole, before, places in self._holes:
            value = values[hole.name]
            if isinstance(value, str) and hole.indent is None:
                text = value
            elif isinstance(value, str) and before is not None and value.isprintable():
                text = (before + value).rstrip() if value else ""
            else:
                text = _filled(hole, value, self._trim)
            for place in places:
                texts[place] = text
        return "".join(texts)

    def filled(self, values: Mapping[str, Value]) -> list[str]:
        """The same in parts: alternating text and filled holes, as in `parts`."""
        return [part if isinstance(part, str) else _filled(part, values[part.name], self._trim) for part in self.parts]


def check_lines(template: Template, holes: Iterable[str], where: str = "") -> None:
    """SpecError for a hole within a line that takes lines only: what upstream's items are is not known there."""
    names = set(holes)
    for part in template.parts:
        if isinstance(part, Hole) and part.indent is None and part.name in names:
            problem = f"the hole '${{{part.name}}}'{where} is not alone on its line: gradmill prints lines there only"
            raise SpecError(problem, "write it on a line of its own", needle=part.name)


def check_holes(template: Template, known: set[str], *, by_slots: bool = False) -> Template:
    """The template. SpecError for a hole that is not known. `by_slots`: whether a description may fill others."""
    for name in sorted(template.names - known):
        hint: str = nearest(name, known)
        if by_slots:
            hint = f"{hint} or fill it in the description: slots.{name} = …".removeprefix(" or ")
        raise SpecError(f"the template has an unknown hole '${{{name}}}'", hint, needle=name)
    return template


def dense(text: str) -> str:
    """A text without empty lines."""
    return "\n".join(line for line in text.split("\n") if line)


def _indentation(text: str, after: int, place: int) -> str | None:
    """The white space from the start of a line to `place`; None for other text. The previous hole ends at `after`."""
    start = text.rfind("\n", after, place) + 1
    if not start and after:
        return None
    prefix = text[start:place]
    return prefix if not prefix or prefix.isspace() else None


def _hole(name: str, indent: str | None) -> Hole:
    name = name.strip("{}")
    return Hole(name.strip(","), indent, name.startswith(","), name.endswith(","))


def _simple(hole: Hole) -> str | None:
    """The prefix of a line of text in a hole; None if the indentation itself may end a line, as a form feed does."""
    return hole.indent or "" if not (hole.indent or "").strip(" \t") else None


def _filled(hole: Hole, value: Value, trim: bool) -> str:
    if hole.indent is not None:
        return block([str(value)] if isinstance(value, (str, int)) else value, hole.indent, trim=trim)
    if isinstance(value, (str, int)):
        return str(value)
    joined = ", ".join(value)
    return f"{', ' if hole.comma_before else ''}{joined}{', ' if hole.comma_after else ''}" if value else ""


def block(items: Sequence[str], indent: str, *, trim: bool) -> str:
    """The lines of all items, indented, without white space at the end of the block."""
    if not items:
        return ""
    return _indented([line for item in items for line in item.splitlines()], indent, trim).rstrip()


def indented(text: str, indent: str, *, trim: bool) -> str:
    """Tidied text, indented as in a block."""
    return _indented(text.split("\n"), indent, trim)


def _indented(lines: Sequence[str], indent: str, trim: bool) -> str:
    if not trim:
        return "\n".join([indent + line for line in lines])
    if indent.strip(" \t"):  # what starts a line may end one, as a form feed does
        parts = [(indent + line).splitlines() if line.strip() else [""] for line in lines]
        return "\n".join([line.rstrip() for part in parts for line in part])
    return "\n".join([(indent + line).rstrip() for line in lines])


def tidy(text: str, *, trim: bool) -> str:
    """`text` as in a block without indentation: `indented` takes the result."""
    lines = text.splitlines()
    if _ITEM in text:
        lines = [line for item in items_of(text) for line in item.splitlines()]
    return "\n".join(map(str.rstrip, lines) if trim else lines)


def piece_of(items: Iterable[str]) -> str | None:
    """The piece of a unit that adds some items to a list of upstream's; None if it adds none."""
    listed = list(items)
    return _ITEM.join(listed) if listed else None


def pieces_of(lists: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """The pieces of a unit that adds items to lists of upstream's, by name; none for a list without any."""
    pieces = {name: piece_of(items) for name, items in lists.items()}
    return {name: piece for name, piece in pieces.items() if piece is not None}


def items_of(piece: str) -> list[str]:
    """The items of a piece."""
    return piece.split(_ITEM)
