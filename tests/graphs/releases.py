"""Compiles and runs graphs with each release that they are for, next to eager of that release.

    python -m tests.campaigns torch [VERSION ...] [--programs N] [--folder DIR] [--index URL]

A release gets a virtual environment with its torch, unless that is the installed one; PyPI's builds for CUDA take 5 GB.
There it runs random programs (`tests/graphs/random_programs.py`) and exported models (`tests/graphs/test_models.py`).
`--folder` keeps the environments, and uses those in it; `--index` is where pip finds torch.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from never_wrong.campaign import Trial, in_order, options, run
from project import ROOT

from gradmill.releases import KNOWN, is_at_least
from gradmill.session.settings.variables import VARIABLES

MODELS = "tests/graphs/test_models.py::test_a_model_matches_eager"
COMPARED = re.compile(r"^all +(\d+) +(\d+)$", re.MULTILINE)
PASSED = re.compile(r"\b(\d+) passed")


class Row(NamedTuple):
    """What was found for a release. `output`: of what failed."""

    programs: str
    models: str
    output: str


def versions() -> list[str]:
    """The releases that graphs are for."""
    since = VARIABLES["graphs"].since
    return [version for version in KNOWN if is_at_least(version, since)]


def interpreter(version: str, folder: Path, index: str) -> Path:
    """A Python with the torch of a release; raises CalledProcessError if it cannot be installed."""
    if metadata.version("torch").partition("+")[0] == version:
        return Path(sys.executable)
    python = folder / f"torch-{version}" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / f"torch-{version}")], check=True)
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    command = [str(python), "-m", "pip", "install", "-q", "--no-compile", "--no-cache-dir"]
    command += [f"torch=={version}", "numpy", "pytest", *needed, *(["--extra-index-url", index] if index else [])]
    subprocess.run(command, env=os.environ | {"PIP_CONSTRAINT": os.devnull}, check=True)
    return python


def check(python: Path, count: int, folder: Path) -> Row:
    """Compares programs and models with eager of the torch of a Python."""
    environment = os.environ | {"GRADMILL_OBJECTS": str(folder / "objects"), "PYTHONPATH": str(ROOT / "pipeline")}

    def ended(*words: str) -> tuple[bool, str]:
        command = [str(python), "-m", *words]
        process = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
        return process.returncode == 0, process.stdout + process.stderr

    equal, programs = ended("tests.campaigns", "programs", "--count", str(count))
    good, models = ended("pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider", MODELS)
    last = COMPARED.findall(programs)[-1:]
    rows = (f"{compared} compared, {differ} differ" for compared, differ in last)
    passed = PASSED.search(models)
    return Row(
        next(rows, "failed"),
        f"{passed[1]} passed" if good and passed else "failed",
        ("" if equal and last else programs) + ("" if good and passed else models),
    )


def trials(wanted: argparse.Namespace) -> Iterator[Trial]:
    for version in in_order(wanted.versions or versions(), wanted):
        with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
            folder = wanted.folder.resolve() if wanted.folder else Path(name)
            try:
                row = check(interpreter(version, folder, wanted.index), wanted.programs, Path(name))
            except subprocess.CalledProcessError as error:
                row = Row("not installed", "", str(error))
            print(f"{version:8} programs: {row.programs}; models: {row.models}", flush=True)
            yield Trial(version, row.output)


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, None)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="releases; by default all that graphs are for")
    parser.add_argument("--programs", type=int, default=100, metavar="N", help="random programs for each release")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where environments are kept")
    parser.add_argument("--index", default="", metavar="URL", help="where pip finds torch, besides PyPI")
    wanted = parser.parse_args(words)
    return run(trials(wanted), wanted)
