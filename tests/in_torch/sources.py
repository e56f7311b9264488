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

SHARDS = 2  # of Nodes and of kernels
NODES = "nodes.json"  # of each, what `doit show` says of it
_SHOW = ("-m", "doit", "show")
_HERE = Path(__file__).parent


class Sources(NamedTuple):
    """Files to compile, and where their headers are."""

    shards: list[Path]  # of kernels
    others: list[Path]
    include: list[Path]
    stand_ins: bool = False  # for functions that libtorch does not export

    @property
    def units(self) -> list[Path]:
        return [*self.shards, *self.others]


def core(folder: Path) -> Sources:
    """Brings the files of the core spec set in `folder`/generated up to date."""
    generated = folder / "generated"
    words = ["specs=core", "layout=split", f"shards={SHARDS}", f"generated={generated}", f"cache={folder / 'cache'}"]
    _run("-m", "doit", *words)
    rows = [json.loads(line) for stage in ("infos", "foreach") for line in _run(*_SHOW, stage, *words).splitlines()]
    write(folder / NODES, json.dumps({row["op"]: row for row in rows if row.get("op")}, sort_keys=True))
    shards = [*_shards(generated, "VariableType"), *_shards(generated, "ADInplaceOrViewType")]
    nodes = [f"Functions_{k}{part}.cpp" for k in range(SHARDS) for part in ("", "_formulas")]
    others = [generated / name for name in ("ViewFuncs.cpp", *nodes)]
    others.append(_HERE / "operators.cpp")
    return Sources(shards, others, [generated, CORE / "templates"])


def short_shards(folder: Path) -> list[Path]:
    """The kernels of the core spec set in many files, in `folder`/shards: one of them is soon compiled."""
    shards = folder / "shards"
    families = "families=variable_type,inplace_or_view"
    words = ["specs=core", "layout=split", "shards=128", f"generated={shards}", f"cache={folder / 'cache_of_shards'}"]
    _run("-m", "doit", families, *words)
    return [*_shards(shards, "VariableType"), *_shards(shards, "ADInplaceOrViewType")]


def torch(folder: Path) -> Sources:
    """The same for the specs that the installed torch comes with. The Nodes are libtorch's: it exports them."""
    generated = folder / "generated"
    families = "families=variable_type,inplace_or_view,view_funcs"
    _run("-m", "doit", "specs=torch", families, f"generated={generated}", f"cache={folder / 'cache'}")
    shards = [*_shards(generated, "VariableType"), *_shards(generated, "ADInplaceOrViewType")]
    others = [generated / "ViewFuncs.cpp", _HERE / "torch_helpers.cpp"]
    return Sources(shards, others, [_inverses(folder)], stand_ins=True)


def formulas(folder: Path, shards: int) -> Path:
    """Brings the Nodes of the installed torch in `folder`/generated up to date, in so many sources of formulas."""
    generated = folder / "generated"
    words = ["specs=torch", "families=nodes", "layout=split", f"shards={shards}"]
    _run("-m", "doit", *words, f"generated={generated}", f"cache={folder / 'cache'}")
    return generated


def _inverses(folder: Path) -> Path:
    """Where ATen/FunctionalInverses.h is: torch has none. torchgen writes it, before it fails over another file."""
    header = folder / "include" / "ATen" / "FunctionalInverses.h"
    if not header.exists():
        specs, written = toolchain.torch_folder().parent / "torchgen" / "packaged" / "ATen", folder / "aten"
        words = ["-s", str(specs), "-d", str(written), "--generate", "sources", "--per-operator-headers"]
        header.parent.mkdir(parents=True, exist_ok=True)
        # It writes into the working directory too, whatever its options.
        subprocess.run([sys.executable, "-m", "torchgen.gen", *words], cwd=folder, check=False, capture_output=True)
        shutil.copyfile(written / header.name, header)
    return folder / "include"


def _shards(folder: Path, family: str) -> list[Path]:
    return sorted(folder.glob(f"{family}_*.cpp"), key=lambda path: (len(path.name), path.name))


def _run(*words: str) -> str:
    return subprocess.run([sys.executable, *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def write(path: Path, text: str) -> None:
    """Only if that changes something: what depends on the file would be made again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
