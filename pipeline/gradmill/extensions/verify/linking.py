"""Links objects of formulas to a library that is loaded next to libtorch, with what libtorch has but does not export.

The library is not linked with libtorch, whose symbols take the linker longer than all else: the process that loads it
makes them visible to it (`child/operators.py`), and says where the hidden ones are.
"""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path

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


def link(compiler: str, objects: Sequence[Path], torch: Path, path: Path) -> None:
    """Links objects to a library. `torch`: libtorch_cpu.so. LookupError if they do not link."""
    stubs = path.with_suffix(".s")
    replace_file(str(stubs), _stubs(_hidden(objects, torch)).encode())
    command = [compiler, *_WORDS, *map(str, objects), str(stubs), "-o", str(path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise LookupError(f"the formulas do not link: {done.stderr.strip()}")


def _hidden(objects: Sequence[Path], torch: Path) -> dict[str, str]:
    """The functions that objects need and libtorch hides, with their addresses within it."""
    if platform.machine() not in _TEXT or not objects or not torch.is_file():
        return {}
    names = {line.partition(" ")[0] for line in _symbols("--undefined-only", *objects)}
    undefined = {name for name in names if "torch" in name or "2at" in name}
    rows = (line.split(" ") for line in _symbols("--defined-only", torch) if line.partition(" ")[0] in undefined)
    return {name: f"0x{value}" for name, kind, value, *_ in rows if kind == "t"}


def _symbols(*words: str | Path) -> list[str]:
    """The symbols of files, each as a line: its name, its kind, its value. LookupError if they cannot be read."""
    done = subprocess.run(["nm", "--format=posix", "--no-sort", *words], check=False, capture_output=True, text=True)  # noqa: S603, S607
    if done.returncode:
        raise LookupError(f"the symbols of the formulas cannot be read: {done.stderr.strip()}")
    return done.stdout.splitlines()


def _stubs(hidden: dict[str, str]) -> str:
    """Functions of these names that jump to libtorch's, in assembly."""
    jump = _TEXT.get(platform.machine())
    jumps = (jump.fill({"name": name, "place": 8 * i}) for i, name in enumerate(hidden)) if jump else ()
    addresses = ", ".join([*hidden.values(), "0"])
    return _TEXT["stubs"].fill({"count": len(hidden), "addresses": addresses, "jumps": "".join(jumps)})
