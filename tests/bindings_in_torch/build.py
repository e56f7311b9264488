"""The generated bindings, compiled and linked into extension modules, in a folder that the next run reuses."""

from __future__ import annotations

import fcntl
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from cpp.toolchain import compile_flags, hasty_flags, link_flags
from project import ROOT

HERE = Path(__file__).parent
PROCESSES = 2
MODULE, SMALL, TAGS = "gradmill_bindings.so", "small.so", "gradmill_tags.so"
FAULTY_MODULE = "faulty.so"
# Where the sources include the header of return types from: ahead of torch's folder, so that it is ours.
PLACE = Path("torch/csrc/autograd/generated")
_FAMILIES = "families=bindings,return_types,enum_tag"
_TORCH = [f"python_torch_functions_{k}" for k in range(3)]
_SHORT = [f"python_{name}_functions" for name in ("linalg", "fft", "nested", "sparse", "nn")]
_SPECIAL = "python_special_functions"
FAULTY = "python_linalg_functions"  # what `faults` changes

Units = Mapping[str, list[Path]]  # the sources of each object, by its name


class Cost(NamedTuple):
    """Of one compilation."""

    name: str
    seconds: float  # of CPU
    peak: int  # bytes


def generate(folder: Path) -> Path:
    """Brings the generated files in `folder` up to date; gives where they are."""
    generated = folder / PLACE
    words = ["specs=torch", _FAMILIES, f"generated={generated}", f"cache={folder / 'cache'}"]
    subprocess.run([sys.executable, "-m", "doit", *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return generated


def whole(generated: Path) -> Units:
    """Each source as an object."""
    names = [*_TORCH, "python_variable_methods", *_SHORT, _SPECIAL, "python_return_types"]
    return {name: [generated / f"{name}.cpp"] for name in names} | _own(HERE / "module.cpp", HERE / "hidden.cpp")


def small(generated: Path, linalg: Path | None = None) -> Units:
    """Some functions in two objects, as most of the time of each goes into torch's headers. `linalg` is another source
    in the place of the generated one."""
    rest = [generated / f"{name}.cpp" for name in ("python_fft_functions", _SPECIAL, "python_return_types")]
    name = FAULTY if linalg is None else linalg.stem
    return {
        f"{name}_small": [linalg or generated / f"{FAULTY}.cpp"],
        "rest": [*rest, HERE / "module.cpp", HERE / "hidden.cpp"],
    }


def tags(generated: Path) -> Units:
    """The enumeration of tags, in a separate module."""
    return {"python_enum_tag": [generated / "python_enum_tag.cpp"]} | _own(HERE / "tags.cpp")


def _own(*paths: Path) -> Units:
    return {path.stem: [path] for path in paths}


def build(folder: Path, modules: Mapping[str, Units]) -> list[Cost]:
    """Brings modules, each of some objects, up to date. The cost of each compilation, now or when it last ran.

    Ends the process with the compiler's output where that fails.
    """
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        units = {name: paths for module in modules.values() for name, paths in module.items()}
        for name, paths in units.items():
            _write(folder / f"{name}.cc", "".join(f'#include "{path}"\n' for path in paths))
        _write(folder / "build.ninja", "\n".join(_lines(folder, modules, units)))
        command = ["ninja", "-C", str(folder), f"-j{PROCESSES}", *modules]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout[-20000:] + done.stderr)
    return [Cost(name, **json.loads((folder / f"{name}.cost").read_text())) for name in units]


def _lines(folder: Path, modules: Mapping[str, Units], units: Units) -> Iterator[str]:
    flags = [*compile_flags(folder), *hasty_flags(), "-DNDEBUG", "-DFMT_HEADER_ONLY=1", "-fvisibility=hidden"]
    yield f"# torch {metadata.version('torch')}"
    yield f"cxx = c++ {shlex.join(flags)}"
    yield "rule object"
    yield f"  command = {sys.executable} {HERE / 'measured.py'} $cost $cxx $own -c $in -o $out -MMD -MF $out.d"
    yield "  depfile = $out.d"
    yield "  deps = gcc"
    yield "rule link"
    # What is in a module is never taken from elsewhere, even where torch exports it.
    yield f"  command = c++ $in -o $out -Wl,-Bsymbolic {shlex.join(link_flags())}"
    for name in units:
        yield f"build {name}.o: object {name}.cc"
        yield f"  cost = {name}.cost"
        yield f"  own = {_own_flag(name, modules)}"
    for module, own in modules.items():
        yield f"build {module}: link {' '.join(f'{name}.o' for name in own)}"
    yield ""


def _own_flag(name: str, modules: Mapping[str, Units]) -> str:
    """For tags, pybind11 keeps the module's types apart from torch's. The small modules include fewer headers."""
    if name in modules.get(TAGS, {}):
        return shlex.quote('-DPYBIND11_STDLIB="_gradmill"')
    return "" if name in modules.get(MODULE, {}) else "-DAT_PER_OPERATOR_HEADERS"


def _write(path: Path, text: str) -> None:
    """Only a new text: Ninja compiles what is newer."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
