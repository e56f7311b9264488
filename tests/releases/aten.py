"""ATen's files of a release against its own torchgen.gen, which writes all types of them: `--only aten` of
`python -m tests.campaigns releases`.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from project import files_in
from torchgen_gen import run_gen

from gradmill.families.subsets import SUBSETS
from releases import Source, gradmill

FLAGS = ("--per-operator-headers",)


class Result(NamedTuple):
    """How ATen's files of a release compare. `different`: those that are not equal, or that only one of both writes."""

    total: int  # of torchgen's
    different: list[str]


def compare(
    source: Source, folder: Path, cache: Path, type_: str = "aten", native_aot: str = "", *, aggregated: bool = False
) -> Result:
    """Runs both programs on a release. `type_`: one of torchgen.gen's types of files, or `aten` for all. `native_aot`:
    a folder with modules that declare kernels compiled ahead of time; `aggregated`: without headers for each
    operator."""
    theirs, ours = folder / "torchgen.gen", folder / "aten"
    theirs.mkdir()
    types = () if type_ == "aten" else ("--generate", type_)
    aten = source.root / "torchgen" / "packaged" / "ATen"
    flags, ahead = [] if aggregated else FLAGS, [f"--native-aot-ops-dir={native_aot}"] if native_aot else []
    expected = run_gen(aten, theirs, *flags, *types, *ahead, root=source.root).files
    made: dict[str, bytes] = {}
    if type_ in SUBSETS:
        form = f"operator_headers={int(not aggregated)}"
        words = ["tree=aten", form, *([f"native_aot={native_aot}"] if native_aot else [])]
        gradmill(source, ours, cache, *words, families=type_)
        made = files_in(ours / "files")
    names = sorted({*expected, *made})
    return Result(len(expected), [name for name in names if made.get(name) != expected.get(name)])
