"""Sets of random functions: gradmill and torchgen.gen must come to one verdict, and to the same files.

python -m tests.aten.random_sets [--sets N] [--functions N] [--seed S] [--keep DIR]

Each operator is first given to torchgen alone. What it refuses, gradmill must refuse, too, each with an error of its
own; what it accepts is one set, with all files of headers and sources.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from random import Random

import yaml

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from project import files_in
from torchgen_gen import SHIMS, Refused, run_gen

from aten.conftest import FLAGS
from aten.random_functions import Entry, RandomFunctions

Operator = list[Entry]

_NAMED = re.compile(r"\bodd\d+x")
_WIDTH = 10**9  # no line of YAML is broken
_REPORTED = 10


class Workspace:
    """Runs of both programs in a folder."""

    def __init__(self, folder: Path) -> None:
        spec = find_spec("torchgen")
        assert spec is not None and spec.origin is not None
        self._packaged = Path(spec.origin).parent / "packaged"
        self.folder = folder

    def specs(self, name: str, operators: Sequence[Operator]) -> Path:
        """A set with these functions and no derivatives."""
        folder = self.folder / name
        if not folder.exists():
            shutil.copytree(self._packaged, folder)
        for file in ("derivatives", "deprecated"):
            (folder / "autograd" / f"{file}.yaml").write_text("[]\n")
        entries = [entry for operator in operators for entry in operator]
        text = yaml.safe_dump(entries, sort_keys=False, width=_WIDTH)
        (folder / "ATen" / "native" / "native_functions.yaml").write_text(text)
        return folder

    def by_torchgen(self, name: str, operators: Sequence[Operator]) -> dict[str, bytes]:
        """The files that torchgen.gen writes. Refused if it fails."""
        out = self.folder / f"{name}-torchgen"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        files = run_gen(self.specs(name, operators) / "ATen", out, *FLAGS).files
        return {path: data for path, data in files.items() if not path.startswith(f"{SHIMS}/")}

    def by_gradmill(self, name: str, operators: Sequence[Operator]) -> tuple[dict[str, bytes], set[str]]:
        """The files that gradmill writes, and the operators that it reports errors for."""
        out, specs = self.folder / f"{name}-gradmill", self.specs(name, operators)
        words = [f"specs={specs}", f"release={metadata.version('torch')}", "families=headers,sources", "format=json"]
        words += [f"generated={out}", f"cache={out}-cache"]
        done = subprocess.run([sys.executable, "-m", "pipeline", *words], capture_output=True, text=True, check=False)
        problems = json.loads(done.stderr)["problems"] if done.stderr else []
        errors = {
            found[0]
            for each in problems
            if each["severity"] == "error" and (found := _NAMED.search(each["op"])) is not None
        }
        assert bool(done.returncode) == bool(errors), done.stderr
        return files_in(out / "ATen"), errors


def _title(operator: Operator) -> str:
    found = _NAMED.search(operator[0]["func"])
    assert found is not None
    return found[0]


def _split(space: Workspace, operators: Sequence[Operator]) -> tuple[list[Operator], list[Operator]]:
    """The operators that torchgen accepts, all of them together, and those that it refuses."""
    accepted, refused = [], []
    for operator in operators:
        try:
            space.by_torchgen("alone", [operator])
            accepted.append(operator)
        except Refused:
            refused.append(operator)
    while True:  # some are only refused next to others: their keys have kernels then
        try:
            space.by_torchgen("accepted", accepted)
        except Refused as error:
            names = _NAMED.findall(str(error))
            others = [operator for operator in accepted if _title(operator) in names[-1:]]
            if not others:
                raise
            refused += others
            accepted = [operator for operator in accepted if operator not in others]
            continue
        return accepted, refused


def differences(space: Workspace, operators: Sequence[Operator]) -> list[str]:
    """What differs between the two programs, a line for each."""
    accepted, refused = _split(space, operators)
    print(f"torchgen accepts {len(accepted)} operators and refuses {len(refused)}")
    found = []
    expected = space.by_torchgen("accepted", accepted)
    files, errors = space.by_gradmill("accepted", accepted)
    found += [f"gradmill refuses {operator}" for operator in accepted if _title(operator) in errors]
    if not errors:
        names = sorted(expected.keys() | files.keys())
        found += [f"{name} differs" for name in names if files.get(name) != expected.get(name)]
    _, errors = space.by_gradmill("refused", refused)
    return found + [f"gradmill accepts {operator}" for operator in refused if _title(operator) not in errors]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--functions", type=int, default=40, help="operators of a set")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", help="a folder for the sets and files of each seed")
    options = parser.parse_args()
    wrong = 0
    for seed in range(options.seed, options.seed + options.sets):
        made = RandomFunctions(Random(seed))
        operators = [made.variants(f"odd{i}x") for i in range(options.functions)]
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(options.keep or temporary) / str(seed)
            folder.mkdir(parents=True)
            found = differences(Workspace(folder), operators)
        print(f"seed {seed}: {len(found)} differences")
        print(*found[:_REPORTED], sep="\n", end="\n" if found else "")
        wrong += len(found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
