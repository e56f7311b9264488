"""Builds the library `core_nodes` with the operators of views.cpp and the Nodes of core that they use: gradmill, then
Ninja, in a folder that is kept from run to run."""

from __future__ import annotations

import fcntl
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import torch
from never_wrong.specset import make_folder, of_families, read_specs
from project import CORE, ROOT

from cpp.toolchain import WARNINGS, compile_flags, hasty_flags, link_flags, precompiled

HERE = Path(__file__).parent
MODULE = "core_nodes.so"

# A source by itself costs seconds next to its own text, so there are few.
_NODES = ["Functions_0.cpp", "Functions_0_formulas.cpp"]
_OPERATORS = ("mul", "add", "exp", "sigmoid", "zero", "fill", "copy")
_VIEWS = [CORE / "templates" / "core_copies.cpp", HERE / "views.cpp"]


def build(folder: Path) -> None:
    """Brings `folder`/core_nodes.so up to date."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _generate(folder)
        generated = folder / "generated"
        _write(folder / "nodes.cpp", "#undef GRADMILL_SHARD\n".join(_include(generated / name) for name in _NODES))
        _write(folder / "views.cpp", "".join(map(_include, _VIEWS)))
        _write(folder / "build.ninja", _ninja_file(folder))
        done = subprocess.run(["ninja", "-C", str(folder), MODULE], check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-20000:] + done.stderr


@cache
def load(folder: Path) -> None:
    """Loads the library that was built; once in a process, as its operators can be registered once."""
    torch.ops.load_library(str(folder / MODULE))


def _generate(folder: Path) -> None:
    specs = folder / "core"
    if not specs.exists():
        make_folder(specs, CORE, (CORE / "RELEASE").read_text())
    of_families(read_specs(CORE), _OPERATORS).write(specs)
    words = [f"specs={specs}", "layout=split", "shards=1", "families=nodes"]
    command = [sys.executable, "-m", "doit", *words, f"generated={folder / 'generated'}", f"cache={folder / 'cache'}"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


def _include(path: Path) -> str:
    return f'#include "{path}"\n'


def with_own_names(path: Path) -> str:
    """A file next to others of its kind: bindings each have a function `addClass`, kernels of the tracer constants."""
    name = "TraceType" if path.stem.startswith("TraceType") else "addClass"
    return f"#define {name} {name}_{path.stem}\n{_include(path)}#undef {name}\n"


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def _ninja_file(folder: Path) -> str:
    generated = folder / "generated"
    flags = shlex.join([*compile_flags(generated, CORE / "templates", HERE), *hasty_flags(), *WARNINGS])
    header = precompiled("-O0")
    lines = [
        "rule object",
        f"  command = c++ {flags} -Winvalid-pch -include {header} -c $in -o $out -MMD -MF $out.d",
        "  depfile = $out.d",
        "  deps = gcc",
        "rule link",
        f"  command = c++ $in -o $out {shlex.join(link_flags())}",
        *(f"build {name}.o: object {name}.cpp | {header}.gch" for name in ("nodes", "views")),
        f"build {MODULE}: link nodes.o views.o",
        "",
    ]
    return "\n".join(lines)
