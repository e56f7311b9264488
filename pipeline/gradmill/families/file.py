"""One generated file, as data: all that the build needs without loading an output family."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

T = TypeVar("T")

QUOTES = '"""'
ANY = "{operator}"  # in the name of a file that each operator has one of: in place of the operator
CUT = " of "  # between the name of a part and the piece that it is cut from: `frame of definition`


class File(Struct, frozen=True, gc=False, omit_defaults=True):
    """A template with its constant holes and the holes that take a piece of each unit. Or one for each operator: then
    its name has `ANY` in place of the operator, `add` of `add_.Tensor`."""

    name: str
    template: str  # of the spec set; "" if `before` is the whole text
    constants: dict[str, str | list[str]]
    slots: dict[str, str]  # hole -> piece
    units: tuple[str, ...]  # in the order of the file
    shard: str = ""  # the suffix of the shard in the file name: `_0`
    cut: str = ""  # the part of each piece that the file contains; "": all
    before: str = ""  # text that precedes the template's
    mark: str = ""  # text in its head, by which it is recognized if it names no template
    part: str = ""  # the part of the template that the file contains; "": all. The rest is in another file
    family: str = ""  # the name of the family; the stage fills it in
    comment: str = ""  # the generated comment; "": upstream's, which the stage fills in
    raw: bool = False  # whether pieces are neither trimmed nor indented
    between: dict[str, str] = {}  # of a raw file: the text between the pieces of a hole
    libraries: tuple[str, ...] = ()  # namespaces that each get a copy of the block of registrations
    asked: tuple[tuple[str, ...], ...] = ()  # paths in the description of the holes that the template must have
    whole: bool = False  # its text is assembled from all its units at once
    origins: tuple[str, ...] = ()  # pieces that each get a comment that names their entry
    lines: bool = False  # whether `#line` directives precede the formulas in these pieces
    first: dict[str, str] = {}  # hole -> text that is filled in first and may itself have holes
    of_lines: tuple[str, ...] = ()  # holes that are alone on their lines, there and in `nested`, or it is an error
    nested: dict[str, str] = {}  # hole -> a template that fills it, without empty lines, after `first` filled both
    copies: tuple[dict[str, str], ...] = ()  # of the nested template: what each fills first besides `first`; none: one
    hanging: tuple[str, ...] = ()  # holes of which only the first line is indented
    wrapped: dict[str, str] = {}  # hole -> a template that the pieces of each unit fill, without empty lines
    optional: str = ""  # the piece without which an operator has no file, if each has one; "": all have
    ordered: dict[str, tuple[str, ...]] = {}  # hole -> pieces; it takes the different texts of each, sorted
    bare: bool = False  # whether it has no units; the stage fills it in

    @property
    def is_of_each(self) -> bool:
        """Whether each operator has a file of its own."""
        return ANY in self.name

    def of(self, operator: str, units: Iterable[str]) -> "File":
        """The file of one operator, with its units, if each has one."""
        constants = {
            hole: value.replace(ANY, operator) if isinstance(value, str) else value
            for hole, value in self.constants.items()
        }
        return replace(self, name=self.name.replace(ANY, operator), constants=constants, units=tuple(units))

    @property
    def made_of(self) -> str:
        """The name of the template, or of the file that `before` is the whole text of."""
        return self.template or self.name

    def piece(self, hole: str) -> str:
        """The name of the piece that a hole takes."""
        return f"{self.cut}{CUT}{self.slots[hole]}" if self.cut else self.slots[hole]


class Made(Struct, frozen=True, array_like=True):
    """The size and digests of a generated file."""

    size: int
    xxh3: bytes
    sha256: bytes


class Ended(Struct, frozen=True, gc=False, array_like=True):
    """A text, separate from the white space that ends it."""

    text: memoryview  # large: it is decoded without a copy
    end: bytes
    quotes: bool  # whether it contains the delimiter of a docstring


def ended(text: str) -> Ended:
    """A text, prepared for insertion into a file."""
    stripped = text.rstrip()
    return Ended(memoryview(stripped.encode()), text[len(stripped) :].encode(), QUOTES in stripped)


def joined(texts: Iterable[tuple[T, Ended]]) -> Iterator[tuple[T, bytes, memoryview]]:
    """The nonempty texts on separate lines, without white space at the end of the last. Yields for each its owner,
    the bytes between it and the previous text, and its own bytes."""
    between = space = b""
    for owner, each in texts:
        if each.text:
            yield owner, space + between, each.text
            space = each.end
        elif each.end:
            space += between + each.end
        if each.text or each.end:
            between = b"\n"
