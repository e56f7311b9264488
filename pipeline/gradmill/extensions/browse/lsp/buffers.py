"""An editor's texts, with incremental changes, and places in the editor's units.

An editor counts a line's characters in the units of an encoding, mostly UTF-16; everything else here counts code
points. Both count lines from 0, and end them at `\\n`, `\\r\\n` and `\\r`, as `gradmill.specs.text` does.
"""

from __future__ import annotations

import os
import re
from functools import cached_property

from lsprotocol import types
from pygls.uris import to_fs_path

_END = re.compile(r"\r\n|\r|\n")
_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}  # encodings, and the bytes of a unit; others: code points
_ODD = "surrogatepass"  # an editor may send a lone surrogate; gradmill then reports the text as invalid


class Text:
    """A text by its lines."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line's start."""
        return [0, *(match.end() for match in _END.finditer(self.text))]

    @cached_property
    def lines(self) -> list[str]:
        """All lines, without line ends."""
        return _END.split(self.text)

    @property
    def line_end(self) -> str:
        """What ends its first line."""
        match = _END.search(self.text)
        return match.group() if match is not None else "\n"

    def line(self, number: int) -> str:
        """A line without its end; "" if there is no such line."""
        return self.lines[number] if 0 <= number < len(self.lines) else ""

    def offset(self, place: types.Position, encoding: str) -> int:
        """The offset of an editor's place. A place outside the text is moved to the end of the text or line."""
        if place.line >= len(self.starts):
            return len(self.text)
        return self.starts[place.line] + column_of(self.line(place.line), place.character, encoding)

    def range(self, line: int, start: int, end: int, encoding: str) -> types.Range:
        """A range of columns of a line, in the editor's units."""
        text = self.line(line)
        places = (types.Position(line, units(text[:column], encoding)) for column in (start, end))
        return types.Range(*places)


class Buffer(Text):
    """A file that an editor has open."""

    def __init__(self, uri: str, text: str, version: int | None) -> None:
        super().__init__(text)
        self.uri = uri
        self.version = version

    def changed(self, change: types.TextDocumentContentChangeEvent, version: int, encoding: str) -> Buffer:
        """The file after a change."""
        if not isinstance(change, types.TextDocumentContentChangePartial):
            return Buffer(self.uri, change.text, version)
        start, end = (self.offset(place, encoding) for place in (change.range.start, change.range.end))
        return Buffer(self.uri, self.text[:start] + change.text + self.text[max(start, end) :], version)

    @property
    def data(self) -> bytes:
        """The bytes that a save would write."""
        return self.text.encode("utf-8", _ODD)


def units(text: str, encoding: str) -> int:
    """The length of a text in the editor's units."""
    name, size = _UNITS.get(encoding, ("", 1))
    return len(text.encode(name, _ODD)) // size if name and not text.isascii() else len(text)


def column_of(line: str, character: int, encoding: str) -> int:
    """The column in code points for a column in the editor's units; inside a character, that character's start."""
    name, size = _UNITS.get(encoding, ("", 1))
    if not name or line.isascii():
        return min(character, len(line))
    return len(line.encode(name, _ODD)[: character * size].decode(name, "ignore"))


def path_of(uri: str) -> str:
    """The real path of a `file:` URI; any other URI unchanged."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return os.path.realpath(path) if path else uri
