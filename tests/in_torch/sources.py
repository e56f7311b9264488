"""The generated files of a spec set, in a folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from project import CORE, ROOT

SHARDS = 2  # of Nodes and of kernels
NODES = "nodes.json"  # of each, what `gradmill show` says of it
_SHOW = ("-m", "gradmill", "show")
_HERE = Path(__file__).parent


class Sources(NamedTuple):
    """Files to compile, and where their headers are."""

    shards: list[Path]  # of kernels
    others: list[Path]
    include: list[Path]

    @property
    def units(self) -> list[Path]:
        return [*self.shards, *self.others]


def core(folder: Path) -> Sources:
    """Brings the files of the core spec set in `folder`/generated up to date."""
    generated = folder / "generated"
    words = ["specs=core", "layout=split", f"shards={SHARDS}", f"generated={generated}", f"cache={folder / 'cache'}"]
    _run("-m", "gradmill", *words)
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
    _run("-m", "gradmill", families, *words)
    return [*_shards(shards, "VariableType"), *_shards(shards, "ADInplaceOrViewType")]


def formulas(folder: Path, shards: int) -> Path:
    """Brings the Nodes of the installed torch in `folder`/generated up to date, in so many sources of formulas."""
    generated = folder / "generated"
    words = ["specs=torch", "families=nodes", "layout=split", f"shards={shards}"]
    _run("-m", "gradmill", *words, f"generated={generated}", f"cache={folder / 'cache'}")
    return generated


def _shards(folder: Path, family: str) -> list[Path]:
    return sorted(folder.glob(f"{family}_*.cpp"), key=lambda path: (len(path.name), path.name))


def _run(*words: str) -> str:
    return subprocess.run([sys.executable, *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def write(path: Path, text: str) -> None:
    """Only if that changes something: what depends on the file would be made again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
