"""One generated file, as data: what the build needs to know of it without loading any output family."""

from msgspec import Struct


class File(Struct, frozen=True, gc=False, omit_defaults=True):
    """A template, its constant holes, and the holes that take a piece of each unit."""

    name: str
    template: str  # of the spec set; "" when `before` is all there is
    constants: dict[str, str | list[str]]
    slots: dict[str, str]  # hole -> piece
    units: tuple[str, ...]  # in the order of the file
    before: str = ""  # text that stands before the template's
    part: str = ""  # what it has of the template, where that is not all: the rest is in another file
    family: str = "nodes"
    comment: str = ""  # what the generated comment is, where it is not upstream's
    raw: bool = False  # whether pieces are neither trimmed nor indented
    between: dict[str, str] = {}  # of a raw file, what stands between the pieces of a hole
    edits: tuple[tuple[str, str], ...] = ()  # text of the template that is replaced
    libraries: tuple[str, ...] = ()  # namespaces of which the block of registrations has a copy each
    asked: tuple[str, ...] = ()  # holes that the template must have
    whole: bool = False  # its text is made as a whole, of all its units at once
    origins: bool = False  # whether a comment above each piece says which entry it is from
    first: dict[str, str] = {}  # fills holes of the template before all else: text that may have holes of its own
