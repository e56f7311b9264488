"""What formulas use of libtorch and libtorch does not export: a function jumps to the one in the loaded libtorch, whose
address libtorch's table of symbols has; a value is copied.

Writes a C++ file of them, from object files: `python -m in_torch.hidden --out hidden.cpp formulas.o ...`. For x86-64.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from cpp.toolchain import torch_folder

_LIBRARY = "libtorch_cpu.so"
_TEXT = """\
#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#define HIDDEN extern "C" __attribute__((visibility("hidden")))

HIDDEN uintptr_t gradmill_functions[] = {{ {addresses} 0 }};
{declarations}
namespace {{

// Before anything of torch runs.
__attribute__((constructor)) void find() {{
  const auto* map = static_cast<const link_map*>(dlopen("{library}", RTLD_NOW | RTLD_NOLOAD));
  if (map == nullptr) {{
    std::abort();
  }}
  for (auto& address : gradmill_functions) {{
    address += map->l_addr;
  }}
{copies}}}

}} // namespace

asm(R"(
  .text
{jumps})");
"""
_JUMP = """\
  .globl {name}
  .hidden {name}
  .type {name}, @function
{name}:
  jmp *gradmill_functions+{place}(%rip)
"""


class Symbol(NamedTuple):
    """Where something of libtorch is, from its start; its size if it is a value, and 0 if it is a function."""

    address: str
    size: int


def missing() -> str:
    """Why no such file can be made here; empty if it can."""
    return "" if platform.machine() == "x86_64" else "the jumps into libtorch are written for x86-64"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("objects", nargs="+")
    options = parser.parse_args()
    options.out.write_text(_text(_names(options.objects)))


def _names(objects: Sequence[str]) -> set[str]:
    """The names that objects use and do not define."""
    command = ["nm", "--format=just-symbols", "--no-demangle", "--undefined-only", *objects]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.partition("@")[0] for line in lines if line and not line.endswith(":")}


def _text(wanted: Iterable[str]) -> str:
    hidden = _hidden()
    found = {name: hidden[name] for name in sorted(set(wanted) & hidden.keys())}
    functions = [name for name, symbol in found.items() if not symbol.size]
    values = [(number, *symbol, name) for number, (name, symbol) in enumerate(found.items()) if symbol.size]
    return _TEXT.format(
        library=_LIBRARY,
        addresses="".join(f"{found[name].address}, " for name in functions),
        declarations="".join(
            f'HIDDEN char value_{number}[{size}] asm("{name}");\nchar value_{number}[{size}];\n'
            for number, _, size, name in values
        ),
        copies="".join(
            f"  std::memcpy(value_{number}, reinterpret_cast<const void*>(map->l_addr + {address}), {size});\n"
            for number, address, size, _ in values
        ),
        jumps="".join(_JUMP.format(name=name, place=8 * place) for place, name in enumerate(functions)),
    )


def _hidden() -> dict[str, Symbol]:
    """All functions and values of libtorch that it does not export. Of two with a name, neither."""
    command = ["nm", "--format=posix", "--defined-only", str(torch_folder() / "lib" / _LIBRARY)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    result: dict[str, Symbol | None] = {}
    for name, kind, address, *size in map(str.split, lines):
        if kind in "tdrb" and name.startswith("_Z"):  # not what the linker defines
            symbol = Symbol(f"0x{address}", 0 if kind == "t" else int(size[0], 16) if size else 0)
            result[name] = None if name in result else symbol
    return {name: symbol for name, symbol in result.items() if symbol is not None}


if __name__ == "__main__":
    main()
