"""The generated bindings, compiled and linked into extension modules, in a folder that the next run reuses."""

from __future__ import annotations

import fcntl
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from cpp.toolchain import compile_flags, hasty_flags, link_flags
from project import ROOT

HERE = Path(__file__).parent
PROCESSES = 2
MODULE, FAULTY_MODULE = "bindings.so", "faulty.so"
# Where the sources include the header of return types from: ahead of torch's folder, so that it is ours.
PLACE = Path("torch/csrc/autograd/generated")
FAULTY = "python_linalg_functions"  # what `faults` changes

Units = Mapping[str, list[Path]]  # the sources of each object, by its name


def generate(folder: Path) -> Path:
    """Brings the generated files in `folder` up to date; gives where they are."""
    generated = folder / PLACE
    words = ["specs=torch", "families=bindings,return_types", f"generated={generated}", f"cache={folder / 'cache'}"]
    subprocess.run([sys.executable, "-m", "doit", *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return generated


def units(generated: Path, linalg: Path | None = None) -> Units:
    """Some functions in two objects, as most of the time of each goes into torch's headers. `linalg` is another source
    in the place of the generated one."""
    names = ("python_fft_functions", "python_special_functions", "python_return_types")
    rest = [generated / f"{name}.cpp" for name in names]
    return {
        FAULTY if linalg is None else linalg.stem: [linalg or generated / f"{FAULTY}.cpp"],
        "rest": [*rest, HERE / "module.cpp", HERE / "hidden.cpp"],
    }


def build(folder: Path, module: str, units: Units) -> None:
    """Brings a module of some objects up to date. Ends the process with the compiler's output where that fails."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name, paths in units.items():
            _write(folder / f"{name}.cc", "".join(f'#include "{path}"\n' for path in paths))
        _write(folder / "build.ninja", "\n".join(_lines(folder, module, units)))
        command = ["ninja", "-C", str(folder), f"-j{PROCESSES}", module]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout[-20000:] + done.stderr)


def _lines(folder: Path, module: str, units: Units) -> Iterator[str]:
    flags = [*compile_flags(folder), *hasty_flags(), "-DNDEBUG", "-DFMT_HEADER_ONLY=1", "-DAT_PER_OPERATOR_HEADERS"]
    yield f"# torch {metadata.version('torch')}"
    yield "rule object"
    yield f"  command = c++ {shlex.join(flags)} -fvisibility=hidden -c $in -o $out -MMD -MF $out.d"
    yield "  depfile = $out.d"
    yield "  deps = gcc"
    yield "rule link"
    # What is in a module is never taken from elsewhere, even where torch exports it.
    yield f"  command = c++ $in -o $out -Wl,-Bsymbolic {shlex.join(link_flags())}"
    for name in units:
        yield f"build {name}.o: object {name}.cc"
    yield f"build {module}: link {' '.join(f'{name}.o' for name in units)}"
    yield ""


def _write(path: Path, text: str) -> None:
    """Only a new text: Ninja compiles what is newer."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
