"""The symbols of an ELF library: functions that libtorch has but does not export, such as most helpers of formulas."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_SYMBOL = struct.Struct("<IBBHQQ")  # name, info, other, section, value, size
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMTAB, _DYNSYM = 2, 11


class _Table(NamedTuple):
    """A table of symbols: the place of it and of its names in the file."""

    start: int
    end: int
    names: int
    names_end: int


class Symbols:
    """The symbols of a library. OSError if it cannot be read, LookupError if it is no 64-bit ELF file."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._data[:6] != b"\x7fELF\x02\x01":
            raise LookupError(f"{path} is not a 64-bit ELF library")
        tables = dict(self._tables())
        self._exported, self._all = tables.get(_DYNSYM), tables.get(_SYMTAB)

    def undefined(self) -> list[str]:
        """The names that an object or library uses and does not define."""
        table = self._all or self._exported
        if table is None:
            return []
        rows = _SYMBOL.iter_unpack(self._data[table.start : table.end])
        return [self._name(table, name) for name, _, _, section, _, _ in rows if name and section == 0]

    def hidden(self, names: Iterable[str]) -> dict[str, int]:
        """Those of `names` that the library defines and does not export, with their addresses within it."""
        return {
            name: value
            for name in names
            if not self._value(self._exported, name) and (value := self._value(self._all, name))
        }

    def _value(self, table: _Table | None, name: str) -> int:
        """The address of a defined symbol; 0 if there is none."""
        at = -1 if table is None else self._data.find(b"\0%s\0" % name.encode(), table.names, table.names_end)
        if table is None or at < 0:
            return 0
        wanted = struct.pack("<I", at + 1 - table.names)
        place = self._data.find(wanted, table.start, table.end)
        while place >= 0:
            if (place - table.start) % _SYMBOL.size == 0:
                _, _, _, section, value, _ = _SYMBOL.unpack_from(self._data, place)
                return value if section else 0
            place = self._data.find(wanted, place + 1, table.end)
        return 0

    def _name(self, table: _Table, at: int) -> str:
        start = table.names + at
        return self._data[start : self._data.find(b"\0", start)].decode("latin-1")

    def _tables(self) -> Iterator[tuple[int, _Table]]:
        (offset,) = struct.unpack_from("<Q", self._data, 0x28)
        size, count = struct.unpack_from("<HH", self._data, 0x3A)
        sections = [_SECTION.unpack_from(self._data, offset + i * size) for i in range(count)]
        for _, kind, _, _, start, length, link, _, _, _ in sections:
            if kind in (_SYMTAB, _DYNSYM):
                _, _, _, _, names, names_length, *_ = sections[link]
                yield kind, _Table(start, start + length, names, names + names_length)
