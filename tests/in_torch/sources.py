"""The generated files of a spec set, in a folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from project import CORE, ROOT

SHARDS = 2  # of the Nodes
_TORCHGEN = Path(__file__).with_name("torchgen_kernels.py")


class Sources(NamedTuple):
    """Files to compile, and where their headers are."""

    kernels: list[Path]  # of VariableType and ADInplaceOrViewType
    others: list[Path]  # ViewFuncs and Nodes
    include: list[Path]

    @property
    def all(self) -> list[Path]:
        return [*self.kernels, *self.others]


def core(folder: Path) -> Sources:
    """Brings the files of the core spec set in `folder`/generated up to date."""
    generated = folder / "generated"
    words = ["layout=split", f"shards={SHARDS}", f"generated={generated}", f"cache={folder / 'cache'}"]
    _run("-m", "doit", "specs=core", *words)
    kernels = _kernels(folder, CORE)
    nodes = [generated / f"Functions_{k}.cpp" for k in range(SHARDS)]
    return Sources(_shards(kernels), [kernels / "ViewFuncs.cpp", *nodes], [generated, kernels, CORE / "templates"])


def _kernels(folder: Path, specs: Path) -> Path:
    """Where the kernels are: torchgen prints them, until gradmill does, into `folder`/generated."""
    kernels = folder / "kernels"
    _run(str(_TORCHGEN), str(specs), str(kernels))
    return kernels


def _shards(folder: Path) -> list[Path]:
    found = [path for family in ("VariableType", "ADInplaceOrViewType") for path in folder.glob(f"{family}_*.cpp")]
    return sorted(found, key=lambda path: (len(path.name), path.name))


def _run(*words: str) -> None:
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
