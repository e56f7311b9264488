"""The generated files of a spec set, in a folder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from cpp import toolchain
from project import CORE, ROOT

SHARDS = 2  # of the Nodes
NODES = "nodes.json"  # of each, what `doit show` says of it
_SHOW = ("-m", "doit", "show")
_HERE = Path(__file__).parent
_TORCHGEN = _HERE / "torchgen_kernels.py"


class Sources(NamedTuple):
    """Files to compile, and where their headers are."""

    shards: list[Path]  # as they were generated
    kernels: list[Path]  # the same, or files that include them
    others: list[Path]
    include: list[Path]
    stand_ins: bool = False  # for functions that libtorch does not export

    @property
    def units(self) -> list[Path]:
        return [*self.kernels, *self.others]


def core(folder: Path) -> Sources:
    """Brings the files of the core spec set in `folder`/generated up to date."""
    generated = folder / "generated"
    words = ["specs=core", "layout=split", f"shards={SHARDS}", f"generated={generated}", f"cache={folder / 'cache'}"]
    _run("-m", "doit", *words)
    rows = [json.loads(line) for stage in ("infos", "foreach") for line in _run(*_SHOW, stage, *words).splitlines()]
    write(folder / NODES, json.dumps({row["op"]: row for row in rows if row.get("op")}, sort_keys=True))
    kernels = _kernels(folder, CORE)
    variable, inplace = _shards(kernels, "VariableType"), _shards(kernels, "ADInplaceOrViewType")
    others = [kernels / "ViewFuncs.cpp", *(generated / f"Functions_{k}.cpp" for k in range(SHARDS))]
    others.append(_HERE / "operators.cpp")
    include = [generated, kernels, CORE / "templates"]
    return Sources([*variable, *inplace], [*_joined(folder, variable, 4), *inplace], others, include)


def torch(folder: Path) -> Sources:
    """The same for the specs that the installed torch comes with. The Nodes are libtorch's: it exports them."""
    kernels = _kernels(folder)
    shards = [*_shards(kernels, "VariableType"), *_shards(kernels, "ADInplaceOrViewType")]
    others = [kernels / "ViewFuncs.cpp", _HERE / "torch_helpers.cpp"]
    return Sources(shards, shards, others, [_inverses(folder)], stand_ins=True)


def _kernels(folder: Path, *specs: Path) -> Path:
    """Where the kernels are: torchgen prints them, until gradmill does, into `folder`/generated."""
    kernels = folder / "kernels"
    _run(str(_TORCHGEN), str(kernels), *map(str, specs))
    return kernels


def _inverses(folder: Path) -> Path:
    """Where ATen/FunctionalInverses.h is: torch has none. torchgen writes it, before it fails over another file."""
    header = folder / "include" / "ATen" / "FunctionalInverses.h"
    if not header.exists():
        specs, written = toolchain.torch_folder().parent / "torchgen" / "packaged" / "ATen", folder / "aten"
        words = ["-s", str(specs), "-d", str(written), "--generate", "sources", "--per-operator-headers"]
        subprocess.run([sys.executable, "-m", "torchgen.gen", *words], check=False, capture_output=True)
        header.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(written / header.name, header)
    return folder / "include"


def _shards(folder: Path, family: str) -> list[Path]:
    return sorted(folder.glob(f"{family}_*.cpp"), key=lambda path: (len(path.name), path.name))


def _joined(folder: Path, files: list[Path], count: int) -> list[Path]:
    """Fewer files, each of which includes some: a file takes seconds for torch's headers before its own text."""
    paths = []
    for k in range(count):
        paths.append(folder / f"{files[0].stem.partition('_')[0]}_joined_{k}.cpp")
        write(paths[-1], "".join(f'#include "{path}"\n' for path in files[k::count]))
    return paths


def _run(*words: str) -> str:
    return subprocess.run([sys.executable, *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def write(path: Path, text: str) -> None:
    """Only if that changes something: what depends on the file would be made again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
