"""Functions that kernels of the whole of torch call and libtorch does not export: each throws when it is called.

Writes a C++ file of them, from object files: `python -m in_torch.stand_ins --out stand_ins.cpp kernels.o ...`.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from cpp.toolchain import torch_folder

# What a message begins with, by which an answer is known to say nothing of our kernels.
NOT_EXPORTED = "not exported by libtorch: "
_OURS = ("torch::autograd", "at::functionalization::FunctionalInverses")
_HEAD = f"""\
#include <c10/util/Exception.h>

namespace {{

[[noreturn]] void fail(const char* name) {{
  TORCH_CHECK(false, "{NOT_EXPORTED}", name);
}}

}} // namespace

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("objects", nargs="+")
    options = parser.parse_args()
    libraries = [str(torch_folder() / "lib" / name) for name in ("libtorch_cpu.so", "libtorch_python.so", "libc10.so")]
    values = names("--dynamic", "--defined-only", files=libraries) | names("--defined-only", files=options.objects)
    options.out.write_text(_HEAD + "".join(_stand_ins(names("--undefined-only", files=options.objects) - values)))


def names(*words: str, files: Sequence[str]) -> set[str]:
    command = ["nm", "--format=just-symbols", "--no-demangle", *words, *files]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.partition("@")[0] for line in lines if line and not line.endswith(":")}


def _stand_ins(names: Iterable[str]) -> Iterable[str]:
    """A definition under each mangled name that is one of torch's own."""
    result = sorted(names)
    readable = subprocess.run(["c++filt"], check=True, input="\n".join(result), capture_output=True, text=True).stdout
    for number, (name, text) in enumerate(zip(result, readable.splitlines())):
        if text.startswith(_OURS):
            short = text.partition("(")[0]
            yield f'void stand_in_{number}() asm("{name}");\nvoid stand_in_{number}() {{\n  fail("{short}");\n}}\n\n'


if __name__ == "__main__":
    main()
