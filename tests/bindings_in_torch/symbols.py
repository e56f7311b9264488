"""What the generated bindings use and torch's libraries do not export: `hidden.cpp` supplies it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from cpp.toolchain import torch_folder

_LIBRARIES = ("libtorch_python.so", "libtorch_cpu.so", "libc10.so")
_TORCHS = ("torch::", "THP", "at::", "c10::", "caffe2::")


def hidden(generated: Sequence[Path]) -> set[str]:
    """The names, without arguments, that these object files use, and neither they nor torch's libraries supply."""
    exported = _names("--dynamic", "--defined-only", files=[torch_folder() / "lib" / name for name in _LIBRARIES])
    lacking = _names("--undefined-only", files=generated) - _names("--defined-only", files=generated) - exported
    text = "\n".join(sorted(lacking))
    readable = subprocess.run(["c++filt"], check=True, input=text, capture_output=True, text=True).stdout
    names = {line.partition("(")[0].partition("[")[0] for line in readable.splitlines()}
    return {name for name in names if name.startswith(_TORCHS)}


def _names(*words: str, files: Sequence[Path]) -> set[str]:
    command = ["nm", "--format=just-symbols", "--no-demangle", *words, *map(str, files)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.partition("@")[0] for line in lines if line and not line.endswith(":")}
