"""Selected operators against a release's own gen_autograd: python -m tests.campaigns selected [VERSION …]

For lists of 0, 1, 20 and 500 operators, of both kinds, with autograd and without it: all files byte for byte.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from never_wrong.campaign import Trial, in_order, options, run

from releases import ROOT, TESTS, WHEELS, Source, find_source, known_versions

SIZES = (0, 1, 20, 500)
_NAME = re.compile(r"^- func: ([\w.]+)\(", re.MULTILINE)
# Operators with synthesized Nodes, with views, with variants that are generated; one that is not for training.
_ODD = ("_foreach_add_.List", "_foreach_exp", "transpose.int", "_fused_adam_", "addmm", "add_.Tensor", "split.Tensor")


class Case(NamedTuple):
    """A list of operators, and how it is used."""

    size: int
    legacy: bool
    autograd: bool

    def __str__(self) -> str:
        return f"{self.size}{'-legacy' if self.legacy else ''}{'' if self.autograd else '-no-autograd'}"


CASES = [Case(size, legacy, autograd) for size in SIZES for legacy in (False, True) for autograd in (True, False)]


def list_of(case: Case, names: Iterable[str]) -> str:
    """The text of a list of a number of operators, chosen from names without namespace."""
    chooser = random.Random(case.size)
    listed = [*_ODD, *chooser.sample(sorted(set(names) - set(_ODD)), 500)][: case.size]
    if case.legacy:
        return yaml.safe_dump([f"aten::{name}" for name in listed])
    operators = {}
    for number, name in enumerate(listed):
        whole = number % 3 == 1
        operators[f"aten::{name.partition('.')[0] if whole else name}"] = {
            "is_root_operator": False,
            "is_used_for_training": number % 7 != 4,
            "include_all_overloads": whole,
            "debug_info": ["a model"],
        }
    return yaml.safe_dump({"operators": operators, "custom_classes": ["a.B"], "kernel_metadata": {"add": ["float"]}})


def operators_of(source: Source) -> list[str]:
    """The operators of a release, without namespace."""
    native = source.root / "torchgen" / "packaged" / "ATen" / "native" / "native_functions.yaml"
    return _NAME.findall(native.read_text())


def compare(source: Source, folder: Path, cases: Iterable[Case] = CASES) -> dict[Case, list[str]]:
    """The names of the files that differ, by case."""
    names = operators_of(source)
    lists = {case: folder / f"{case}.yaml" for case in cases}
    for case, path in lists.items():
        path.write_text(list_of(case, names))
    _run_torchgen(source, folder, lists)
    different = {}
    for case, path in lists.items():
        ours, theirs = folder / "ours" / str(case), folder / "theirs" / str(case)
        words = [f"operators={path}", "families=libtorch", *([] if case.autograd else ["autograd=0"])]
        words += [f"specs={source.specs}", f"generated={ours}", f"cache={folder / 'cache'}"]
        subprocess.run([sys.executable, "-m", "doit", "-r", "zero", *words], cwd=ROOT, check=True)
        made, expected = _files(ours), _files(theirs)
        different[case] = sorted(name for name in {**made, **expected} if made.get(name) != expected.get(name))
    return different


def _run_torchgen(source: Source, folder: Path, lists: Mapping[Case, Path]) -> None:
    cases = [
        {
            "operators": str(path),
            "legacy": case.legacy,
            "disable_autograd": not case.autograd,
            "out": str(folder / "theirs" / str(case)),
        }
        for case, path in lists.items()
    ]
    order = folder / "cases.json"
    order.write_text(json.dumps({"root": str(source.root), "cases": cases}))
    subprocess.run([sys.executable, TESTS / "torchgen_selected.py", order], check=True)


def _paths(folder: Path) -> list[Path]:
    """The files below a folder, without gradmill's record of them."""
    return [path for path in folder.rglob("*") if path.is_file() and ".gradmill" not in path.parts]


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in _paths(folder)}


def trials(wanted: argparse.Namespace) -> Iterator[Trial]:
    """One for each list of each release."""
    for version in in_order(wanted.versions or known_versions(), wanted):
        with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
            folder = Path(name)
            different = compare(find_source(version, WHEELS.resolve(), folder / "unpacked"), folder)
        for case, names in different.items():
            yield Trial(version, ", ".join(names[:10]), str(case))


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, None)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="releases; all known ones by default")
    wanted = parser.parse_args(words)
    return run(trials(wanted), wanted)
