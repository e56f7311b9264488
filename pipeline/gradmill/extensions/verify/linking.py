"""Links objects of formulas to a library that is loaded next to libtorch, with what libtorch has but does not export.

The library is not linked with libtorch, whose symbols take the linker longer than all else: the process that loads it
makes them visible to it (`child/operators.py`), and says where the hidden ones are.
"""

from __future__ import annotations

import mmap
import platform
import struct
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gradmill.families.sections import Text
from gradmill.families.template import Template
from gradmill.io.files import replace_file

_TEXT = {
    section: Template(text, blocks=False)
    for section, versions in Text(Path(__file__).parent / "cpp" / "stubs.s").versions.items()
    for text in versions.values()
}
# Each source has the helpers of a file, which define what libtorch may define, too: the library's own are called.
_WORDS = ("-shared", "-fPIC", "-w", "-Wl,-z,muldefs", "-Wl,-Bsymbolic-functions")
_SYMBOL = struct.Struct("<IBBHQQ")  # name, info, other, section, value, size
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMTAB, _DYNSYM = 2, 11  # kinds of sections of symbols


def link(compiler: str, objects: Sequence[Path], torch: Path, path: Path) -> None:
    """Links objects to a library. `torch`: libtorch_cpu.so. LookupError if they do not link."""
    stubs = path.with_suffix(".s")
    replace_file(str(stubs), _stubs(_hidden(objects, torch)).encode())
    command = [compiler, *_WORDS, *map(str, objects), str(stubs), "-o", str(path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise LookupError(f"the formulas do not link: {done.stderr.strip()}")


def _hidden(objects: Iterable[Path], torch: Path) -> dict[str, int]:
    """The functions that objects need and libtorch hides, with their addresses within it."""
    if platform.machine() not in _TEXT or not torch.is_file():
        return {}
    undefined = {name for each in objects for name in Symbols(each).undefined()}
    return Symbols(torch).hidden(sorted(name for name in undefined if "torch" in name or "2at" in name))


def _stubs(hidden: dict[str, int]) -> str:
    """Functions of these names that jump to libtorch's, in assembly."""
    jump = _TEXT.get(platform.machine())
    jumps = (jump.fill({"name": name, "place": 8 * i}) for i, name in enumerate(hidden)) if jump else ()
    addresses = ", ".join([*map(str, hidden.values()), "0"])
    return _TEXT["stubs"].fill({"count": len(hidden), "addresses": addresses, "jumps": "".join(jumps)})


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
