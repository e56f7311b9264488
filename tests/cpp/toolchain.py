"""The compiler, and how it is called for files that include torch's headers."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path

KEPT = Path(os.environ.get("GRADMILL_OBJECTS") or Path(tempfile.gettempdir()) / "gradmill-objects")
WARNINGS = ("-Wall", "-Werror")
_HEADER = Path(__file__).with_name("precompiled.h")


def missing(*programs: str) -> str:
    """Why C++ cannot be built here; empty if it can."""
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed: pip install 'gradmill[test]'"
    if sys.platform != "linux":
        return "the C++ tests are written for GCC or Clang on Linux"
    lacking = [name for name in ("c++", *programs) if shutil.which(name) is None]
    return f"not on the PATH: {', '.join(lacking)}" if lacking else ""


def torch_folder() -> Path:
    """The folder of the installed torch package; torch itself is not imported."""
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    return Path(next(iter(spec.submodule_search_locations or ())))


def language_flags(optimize: str) -> list[str]:
    """What sources and precompiled headers have to agree in."""
    return ["-std=c++20", optimize, "-fPIC", "-D_GLIBCXX_USE_CXX11_ABI=1"]


def compile_flags(*include: Path, optimize: str = "-O0") -> list[str]:
    """The flags of every compilation. Folders of ours come first; warnings in headers of others are not ours."""
    torch = torch_folder() / "include"
    others = (torch, torch / "torch/csrc/api/include", Path(sysconfig.get_paths()["include"]))
    return [
        *language_flags(optimize),
        *(f"-I{folder}" for folder in include),
        *(word for folder in others for word in ("-isystem", str(folder))),
    ]


@cache
def hasty_flags() -> list[str]:
    """GCC collects its garbage later: a tenth less time, for some 100 MB more. Not for what measures compilations."""
    message = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True).stdout
    if "Free Software Foundation" not in message:
        return []
    return ["--param=ggc-min-heapsize=1000000", "--param=ggc-min-expand=300"]


def syntax_command(source: Path, *flags: str, include: Sequence[Path] = ()) -> list[str]:
    """The command that checks a source, and makes nothing of it: with torch's headers precompiled."""
    words = [*compile_flags(*include), *hasty_flags(), "-include", str(precompiled("-O0")), *flags]
    return ["c++", *words, "-fsyntax-only", str(source)]


def precompiled(optimize: str) -> Path:
    """Precompiles torch's headers, once for all tests and in one process; returns the path to include."""
    folder = KEPT / f"headers-{metadata.version('torch')}{optimize}"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{sha256(_HEADER.read_bytes()).hexdigest()[:24]}.h"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.with_suffix(".h.gch").exists():
            temporary = folder / "unfinished"
            words = ["c++", *compile_flags(optimize=optimize), *hasty_flags(), "-x", "c++-header", str(_HEADER)]
            subprocess.run([*words, "-o", str(temporary)], check=True)
            temporary.replace(target.with_suffix(".h.gch"))
    return target


def link_flags() -> list[str]:
    """The flags that link a shared library against torch's."""
    libraries = torch_folder() / "lib"
    return [
        "-shared",
        f"-L{libraries}",
        f"-Wl,-rpath,{libraries}",
        *("-ltorch_python", "-ltorch", "-ltorch_cpu", "-lc10"),
    ]
