"""The compiler, and how it is called for files that include torch's headers."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

WARNINGS = ("-Wall", "-Werror")


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


def compile_flags(*include: Path, optimize: str = "-O0") -> list[str]:
    """The flags of every compilation. Folders of ours come first; warnings in headers of others are not ours."""
    torch = torch_folder() / "include"
    others = (torch, torch / "torch/csrc/api/include", Path(sysconfig.get_paths()["include"]))
    return [
        "-std=c++20",
        optimize,
        "-fPIC",
        "-D_GLIBCXX_USE_CXX11_ABI=1",
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


def link_flags() -> list[str]:
    """The flags that link a shared library against torch's."""
    libraries = torch_folder() / "lib"
    return [
        "-shared",
        f"-L{libraries}",
        f"-Wl,-rpath,{libraries}",
        *("-ltorch_python", "-ltorch", "-ltorch_cpu", "-lc10"),
    ]
