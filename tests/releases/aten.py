"""ATen's files of a release against its own torchgen.gen, which writes all types of them: `--only aten` of
`python -m tests.campaigns releases`.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from project import files_in
from torchgen_gen import run_gen

from gradmill.families.places import SUBSETS
from releases import Source, gradmill

FLAGS = ("--per-operator-headers",)
_SHOWN = 20
_OF_KEY = re.compile(r"Register\w+?(_\d+|Everything)?\.cpp")
_OF_OPERATOR = re.compile(r"ops/\w+?(_ops|_native|_meta|_[a-z]+_dispatch)?\.h")


class Result(NamedTuple):
    """How ATen's files of a release compare, by name."""

    total: int  # of torchgen's
    different: list[str]
    missing: list[str]  # gradmill does not write them
    others: list[str]  # torchgen does not write them

    @property
    def is_equal(self) -> bool:
        """Whether both wrote the same files."""
        return not (self.different or self.missing or self.others)

    def __str__(self) -> str:
        equal = self.total - len(self.different) - len(self.missing)
        return f"{equal}/{self.total} of ATen's files equal"

    def problems(self) -> list[str]:
        """A line for each kind of difference."""
        lists = {"differ": self.different, "missing": self.missing, "only gradmill's": self.others}
        return [f"{what}: {kinds(names)}" for what, names in lists.items() if names]


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
    return Result(
        len(expected),
        [name for name in expected if name in made and made[name] != expected[name]],
        [name for name in expected if name not in made],
        [name for name in made if name not in expected],
    )


def kinds(names: list[str]) -> str:
    """Kinds of files, those of most files first; each with the number of its files."""
    counted = Counter(map(_kind, names)).most_common()
    shown = [name if count == 1 else f"{count} {name}" for name, count in counted[:_SHOWN]]
    return ", ".join([*shown, *([f"{len(counted) - _SHOWN} more"] if len(counted) > _SHOWN else [])])


def _kind(name: str) -> str:
    """The name of a file with `*` for an operator or a dispatch key."""
    if match := _OF_OPERATOR.fullmatch(name):
        return f"ops/*{match[1] or ''}.h"
    if match := _OF_KEY.fullmatch(name):
        return f"Register*{match[1] or ''}.cpp"
    return name
