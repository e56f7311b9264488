"""One generated file, as data: what the build needs to know of it without loading any output family."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from msgspec import Struct

T = TypeVar("T")

QUOTES = '"""'
CUT = " of "  # between a cut and the piece that it is a part of: `frame of definition`


class File(Struct, frozen=True, gc=False, omit_defaults=True):
    """A template, its constant holes, and the holes that take a piece of each unit."""

    name: str
    template: str  # of the spec set; "" when `before` is all there is
    constants: dict[str, str | list[str]]
    slots: dict[str, str]  # hole -> piece
    units: tuple[str, ...]  # in the order of the file
    shard: str = ""  # what the name of a shard has before its ending: `_0`
    cut: str = ""  # which part of each piece it has, where that is not all
    before: str = ""  # text that stands before the template's
    part: str = ""  # what it has of the template, where that is not all: the rest is in another file
    family: str = ""  # its name: the stage knows which family has the file
    comment: str = ""  # what the generated comment is, where it is not upstream's
    raw: bool = False  # whether pieces are neither trimmed nor indented
    between: dict[str, str] = {}  # of a raw file, what stands between the pieces of a hole
    edits: tuple[tuple[str, str], ...] = ()  # text of the template that is replaced
    libraries: tuple[str, ...] = ()  # namespaces of which the block of registrations has a copy each
    asked: tuple[tuple[str, ...], ...] = ()  # holes that the template must have: where the description fills each
    whole: bool = False  # its text is made as a whole, of all its units at once
    origins: tuple[str, ...] = ()  # pieces that have a comment above each, which says what entry it is from
    lines: bool = False  # whether the formulas in these pieces say by `#line` where they are from
    first: dict[str, str] = {}  # fills holes of the template before all else: text that may have holes of its own

    @property
    def made_of(self) -> str:
        """The name of the template, or of the one that `before` stands for."""
        return self.template or self.name

    def piece(self, hole: str) -> str:
        """What goes into a hole."""
        return f"{self.cut}{CUT}{self.slots[hole]}" if self.cut else self.slots[hole]


class Ended(Struct, frozen=True, gc=False, array_like=True):
    """A text, apart from the white space that ends it."""

    text: bytes
    end: bytes
    quotes: bool  # whether it has what begins or ends a docstring


def ended(text: str) -> Ended:
    """A text as it is put into a file."""
    found = text.rstrip()
    return Ended(found.encode(), text[len(found) :].encode(), QUOTES in found)


def joined(texts: Iterable[tuple[T, Ended]]) -> Iterator[tuple[T, bytes, bytes]]:
    """Texts on lines of their own, but for empty ones, and without white space at the end of them all; each with
    whose it is, and what is between it and the one before."""
    between = space = b""
    for whose, each in texts:
        if each.text:
            yield whose, space + between, each.text
            space = each.end
        elif each.end:
            space += between + each.end
        if each.text or each.end:
            between = b"\n"
