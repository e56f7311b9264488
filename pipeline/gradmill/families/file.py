"""One generated file, as data: all that the build needs without loading an output family."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gradmill.query.query import Parts

T = TypeVar("T")

QUOTES = '"""'
ANY = "{operator}"  # in the name of a file that each operator has one of: in place of the operator
CUT = " of "  # between the name of a part and the piece that it is cut from: `frame of definition`


class WithHoles(Struct, frozen=True, gc=False, tag=True):
    """Text that is filled in first, and has holes of the file itself."""

    text: str
    on_line: bool = False  # whether it must be alone on its line in the template: lines are known there only


class Pieces(Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """A piece of each unit, or a part of one."""

    name: str
    between: str = "\n"  # of a raw file: the text between the pieces
    origin: bool = False  # whether each gets a comment that names its entry
    on_line: bool = False  # whether the hole must be alone on its line
    hanging: bool = False  # whether only the first line is indented
    needed: bool = False  # whether an operator without this piece has no file, if each has one


class SortedPieces(Struct, frozen=True, gc=False, tag=True):
    """The different texts of each of some pieces of all units, sorted."""

    names: tuple[str, ...]


class NestedTemplate(Struct, frozen=True, gc=False, tag=True, omit_defaults=True):
    """Another template, without its empty lines, whose other holes are the file's."""

    template: str
    copies: tuple[dict[str, str], ...]  # by hole: the text, which may have holes itself, that each copy has
    on_line: bool = False  # whether what is filled with holes must be alone on its line, here and in the template


class UnitTemplate(Struct, frozen=True, gc=False, tag=True):
    """A template that the pieces of each unit fill, without its empty lines."""

    template: str


Content = str | list[str] | WithHoles | Pieces | SortedPieces | NestedTemplate | UnitTemplate


class File(Struct, frozen=True, gc=False, omit_defaults=True):
    """A template with the contents of its holes. Or one for each operator: then its name has `ANY` in place of the
    operator, `add` of `add_.Tensor`, and so may texts."""

    name: str
    template: str  # of the spec set; "" if `before` is the whole text
    holes: Mapping[str, Content]
    units: tuple[str, ...] = ()  # in the order of the file
    shard: str = ""  # the suffix of the shard in the file name: `_0`
    before: str = ""  # text that precedes the template's
    head: str = ""  # text in its head, by which it is recognized if neither a comment nor the template tells
    part: str = ""  # the part of the template that the file contains; "": all. The rest is in another file
    family: str = ""  # the name of the family; the stage fills it in
    comment: str = ""  # the generated comment; "": upstream's, which the stage fills in
    raw: bool = False  # whether pieces are neither trimmed nor indented
    whole: bool = False  # its text is assembled from all its units at once

    @property
    def is_of_each(self) -> bool:
        """Whether each operator has a file of its own."""
        return ANY in self.name

    def of(self, operator: str, units: Iterable[str]) -> "File":
        """The file of one operator, with its units, if each has one."""
        holes = {
            hole: content.replace(ANY, operator) if isinstance(content, str) else content
            for hole, content in self.holes.items()
        }
        return replace(self, name=self.name.replace(ANY, operator), holes=holes, units=tuple(units))

    @property
    def made_of(self) -> str:
        """The name of the template, or of the file that `before` is the whole text of."""
        return self.template or self.name

    @property
    def pieces(self) -> dict[str, Pieces]:
        """The holes that take pieces of units in their order."""
        return {hole: content for hole, content in self.holes.items() if isinstance(content, Pieces)}

    @property
    def nested(self) -> dict[str, NestedTemplate]:
        """The holes that take another template."""
        return {hole: content for hole, content in self.holes.items() if isinstance(content, NestedTemplate)}

    @property
    def other_templates(self) -> list[str]:
        """The templates within its own."""
        contents = self.holes.values()
        return [own.template for own in contents if isinstance(own, (NestedTemplate, UnitTemplate))]

    @property
    def texts_with_holes(self) -> str:
        """The texts that are filled in first, one after another."""
        texts = [own.text for own in self.holes.values() if isinstance(own, WithHoles)]
        texts += [text for nested in self.nested.values() for copy in nested.copies for text in copy.values()]
        return "\n".join(texts)


def operator_in(name: str, entry: str) -> str:
    """The operator that has a file, by the names of the file and of those that each operator has; "" if it is none of
    these."""
    before, _, after = entry.partition(ANY)
    is_one = ANY in entry and name.startswith(before) and name.endswith(after)
    return name[len(before) : len(name) - len(after)] if is_one else ""


def pieces_in(slots: Mapping[str, str]) -> dict[str, Content]:
    """Holes that each take a piece of each unit. `slots`: hole -> piece."""
    return {hole: Pieces(piece) for hole, piece in slots.items()}


class FileDigest(Struct, frozen=True, array_like=True):
    """The size and digests of a generated file."""

    size: int
    xxh3: bytes
    sha256: bytes


def digest_of_file(data: Parts) -> FileDigest:
    """The size and digests of the bytes of a file."""
    from hashlib import sha256  # its import takes longer than an edit that changes no file

    hasher = sha256()
    for part in data:
        hasher.update(part)
    return FileDigest(data.size, data.digest, hasher.digest())


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
