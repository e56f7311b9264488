"""Builds the extension `core_nodes`: gradmill, then Ninja, in a folder that is kept from run to run."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import shlex
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from project import CORE, ROOT

from cpp.node_kinds import Kind, kinds_cpp, kinds_of
from cpp.toolchain import WARNINGS, compile_flags, hasty_flags, link_flags

HERE = Path(__file__).parent
SHARDS = 2
MODULE = "core_nodes.so"
IN_ATEN = "in_aten.so"  # a library whose kernels take the place of torch's, with the operators of views.cpp

# Most of a unit's time goes into torch's headers, so that few are compiled: of the five files of bindings, which
# include the same, one stands alone and the others are joined.
_NODES = [f"Functions_{k}{part}" for k in range(SHARDS) for part in ("", "_formulas")]
_ALONE = [*(f"{name}.cpp" for name in _NODES), "python_functions_0.cpp"]
_TOGETHER = [f"python_functions_{k}.cpp" for k in range(1, 5)]
_OURS = [HERE / "given.cpp", HERE / "module.cpp"]
_VIEWS = [CORE / "templates" / "core_copies.cpp", HERE / "views.cpp"]


def build(folder: Path, module: str = MODULE) -> dict[str, Kind]:
    """Brings `folder`/core_nodes.so, or the other library, up to date. Gives the Nodes in it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kinds = _generate(folder)
        _write(folder / "kinds.cpp", kinds_cpp(list(kinds.values())))
        _write(folder / "bindings.cpp", "".join(with_own_names(folder / "generated" / name) for name in _TOGETHER))
        _write(folder / "extension.cpp", "".join(map(_include, (folder / "kinds.cpp", *_OURS))))
        _write(folder / "views.cpp", "".join(map(_include, _VIEWS)))
        _write(folder / "in_aten.cpp", "#define GRADMILL_IN_ATEN\n" + _include(folder / "views.cpp"))
        _write(folder / "build.ninja", _ninja_file(folder))
        done = subprocess.run(["ninja", "-C", str(folder), module], check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-20000:] + done.stderr
    return kinds


@cache
def load(folder: Path) -> Any:
    """The module that was built; once in a process, as its operators can be registered once."""
    spec = importlib.util.spec_from_file_location("core_nodes", folder / MODULE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _generate(folder: Path) -> dict[str, Kind]:
    words = ["specs=core", "layout=split", f"shards={SHARDS}", f"generated={folder / 'generated'}"]
    _doit(folder, *words)
    rows = [json.loads(line) for stage in ("infos", "foreach") for line in _doit(folder, "show", stage).splitlines()]
    return kinds_of(rows)


def _include(path: Path) -> str:
    return f'#include "{path}"\n'


def with_own_names(path: Path) -> str:
    """A file next to others of its kind: bindings each have a function `addClass`, kernels of the tracer constants."""
    name = "TraceType" if path.stem.startswith("TraceType") else "addClass"
    return f"#define {name} {name}_{path.stem}\n{_include(path)}#undef {name}\n"


def _doit(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "doit", *words, f"cache={folder / 'cache'}"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def _ninja_file(folder: Path) -> str:
    generated = folder / "generated"
    flags = shlex.join([*compile_flags(generated, CORE / "templates", HERE), *hasty_flags()])
    joined = (folder / f"{name}.cpp" for name in ("bindings", "extension", "views"))
    units = [*(generated / name for name in _ALONE), *joined]
    lines = [
        f"# torch {metadata.version('torch')}",
        f"cxx = c++ {flags} -DTORCH={metadata.version('torch')}",
        "rule header",
        "  command = $cxx -x c++-header $in -o $out -MMD -MF $out.d",
        "  depfile = $out.d",
        "rule object",
        f"  command = $cxx {' '.join(WARNINGS)} -Winvalid-pch -include precompiled.h -c $in -o $out -MMD -MF $out.d",
        "  depfile = $out.d",
        "  deps = gcc",
        "rule link",
        f"  command = c++ $in -o $out {shlex.join(link_flags())}",
        f"build precompiled.h.gch: header {HERE / 'precompiled.h'}",
        *(f"build {path.stem}.o: object {path} | precompiled.h.gch" for path in [*units, folder / "in_aten.cpp"]),
        f"build {MODULE}: link {' '.join(f'{path.stem}.o' for path in units)}",
        f"build {IN_ATEN}: link {' '.join(f'{name}.o' for name in _NODES)} in_aten.o",
        "",
    ]
    return "\n".join(lines)
