"""`generate-code` in checkouts of all releases, compared with the release's own torchgen.

For each release a checkout is made of its package. There the release's torchgen is run as PyTorch's script runs it, for
each subset and with each kind of option, and gradmill in another folder; the trees are compared. Lists of selected
operators are a few, or with --lists all: of 0, 1, 20 and 500 operators, of both kinds, with autograd and without it.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from checkouts import run_script, whole_checkout
from never_wrong import campaign
from never_wrong.campaign import Trial, in_order
from project import files_in
from releases import WHEELS, Source, Unavailable, find_source, known_versions

from gradmill.cli.commands.generate_code import SUBSETS

_NAME = re.compile(r"^- func: ([\w.]+)\(", re.MULTILINE)
# Operators with synthesized Nodes, with views, with variants that are generated; one that is not for training.
_ODD = ("_foreach_add_.List", "_foreach_exp", "transpose.int", "_fused_adam_", "addmm", "add_.Tensor", "split.Tensor")


class Case(NamedTuple):
    """A list of so many operators, and how it is used."""

    size: int
    legacy: bool
    autograd: bool

    def __str__(self) -> str:
        return f"{self.size}{'-legacy' if self.legacy else ''}{'' if self.autograd else '-no-autograd'}"


CASES = tuple(Case(size, legacy, on) for size in (0, 1, 20, 500) for legacy in (False, True) for on in (True, False))
OPTIONS = ((), ("--disable-autograd",))
FEW = (
    Case(0, legacy=True, autograd=True),
    Case(20, legacy=False, autograd=True),
    Case(20, legacy=True, autograd=False),
)
OF_LISTS = "libtorch"  # the subset that lists are about
LAZY = "--gen-lazy-ts-backend"
OF_LAZY = ((LAZY,), (LAZY, "--per-operator-headers"))
COMMAND = [sys.executable, "-m", "gradmill", "generate-code"]


def trees(
    version: str, source: Source, folder: Path, subsets: list[str], lists: tuple[Case, ...] = FEW
) -> dict[str, list[str]]:
    """The files that differ, by the arguments of the command. Of the lists, subsets that have no kernels use a few."""
    checkout = whole_checkout(source.root, folder / "pytorch", version)
    for case in lists:
        (checkout / f"{case}.yaml").write_text(list_of(case, operators_of(source)))
    result = {}
    for subset in subsets:
        cases = lists if subset == OF_LISTS else [case for case in lists if case in FEW]
        with_lazy = [(LAZY, *_selecting(case)) for case in cases[-1:]]
        for options in (*OPTIONS, *OF_LAZY, *map(_selecting, cases), *with_lazy):
            arguments = (*(("--subset", subset) if subset else ()), *options)
            result[" ".join(arguments)] = _different(checkout, folder, arguments)
    return result


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


def _selecting(case: Case) -> tuple[str, ...]:
    """The options for a list."""
    kind = "--selected-op-list-path" if case.legacy else "--operators-yaml-path"
    return (kind, f"{case}.yaml", *(() if case.autograd else ("--disable-autograd",)))


def _different(checkout: Path, folder: Path, arguments: tuple[str, ...]) -> list[str]:
    """The files of the two trees that differ. Both are written to one folder, whose path some files have."""
    tree = folder / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    run_script(checkout, *arguments, "--gen-dir", str(tree))
    wanted = files_in(tree)
    shutil.rmtree(tree)
    command = [*COMMAND, *arguments, "--gen-dir", str(tree), f"cache={folder}/cache"]
    subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.DEVNULL)
    made = files_in(tree)
    return [name for name in sorted({*made, *wanted}) if made.get(name) != wanted.get(name)]


def trials(wanted: argparse.Namespace) -> Iterator[Trial]:
    """One for each list of arguments of each release."""
    lists = CASES if wanted.lists == "all" else FEW
    for version in in_order(wanted.versions or known_versions(), wanted):
        with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
            try:
                source = find_source(version, wanted.wheels.resolve(), Path(name) / "unpacked")
            except Unavailable as error:
                yield Trial(version, str(error))
                continue
            subsets = wanted.subsets or ["", *SUBSETS]
            for arguments, wrong in trees(version, source, Path(name), subsets, lists).items():
                yield Trial(version, ", ".join(wrong[:10]), arguments or "all")


def main(words: Sequence[str]) -> int:
    parser = campaign.options(__doc__, None)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="releases; all known ones by default")
    parser.add_argument("--wheels", type=Path, default=WHEELS, help="where wheels are kept (GRADMILL_WHEELS)")
    parser.add_argument("--lists", choices=("few", "all"), default="few", help="of selected operators")
    parser.add_argument("--subset", dest="subsets", action="append", choices=("", *SUBSETS), help="by default each")
    wanted = parser.parse_args(words)
    return campaign.run(trials(wanted), wanted)
