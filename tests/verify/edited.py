"""The installed torch's specs with other formulas, and what `gradmill verify` reports of them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

Definitions = list[dict[str, Any]]

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "verify"  # kept: samples of operators
RELEASE = metadata.version("torch").partition("+")[0]
_SPEC = find_spec("torchgen")
PACKAGED = Path(next(iter(_SPEC.submodule_search_locations or ())) if _SPEC else "", "packaged")
_DERIVATIVES = Path("autograd", "derivatives.yaml")


class Failed(Exception):
    """gradmill gave no report: what it printed."""


def installed() -> Definitions:
    """The definitions of the installed torch."""
    return load((PACKAGED / _DERIVATIVES).read_bytes())


def load(text: bytes) -> Definitions:
    """The definitions of a file."""
    rows: Definitions = yaml.load(text, yaml.CSafeLoader)
    return rows


def operator(definition: str) -> str:
    """The name of the operator that a definition is of, with overload."""
    return definition.partition("(")[0]


def rejected(definitions: Definitions, cache: Path) -> dict[str, str]:
    """The operators whose definitions gradmill reports as errors, with the first of them each. Raises Failed."""
    problems = json.loads(_run(definitions, cache, "check", "format=json"))["problems"]
    return {each["op"]: each["problem"] for each in reversed(problems) if each["severity"] == "error"}


def verify(definitions: Definitions, names: Iterable[str], cache: Path, *words: str) -> dict[str, dict[str, Any]]:
    """The rows of the report on these operators, by operator, with these definitions in place of torch's. Raises
    Failed."""
    rows = json.loads(_run(definitions, cache, "verify", *names, "--format=json", *words))["rows"]
    return {row["operator"].partition("::")[2]: row for row in rows if "Autograd" not in row["reason"]}


def _run(definitions: Definitions, cache: Path, *words: str) -> str:
    """What gradmill prints, as JSON, in a copy of torch's specs with these definitions."""
    with TemporaryDirectory() as folder:
        specs = Path(shutil.copytree(PACKAGED, Path(folder, "specs")))
        (specs / _DERIVATIVES).write_text(yaml.dump(definitions, Dumper=yaml.CSafeDumper, sort_keys=False, width=10**6))
        variables = (f"specs={specs}", f"release={RELEASE}", f"cache={cache}")
        command = [sys.executable, "-m", "gradmill", *words, *variables]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    if done.returncode not in (0, 1) or not done.stdout.startswith("{"):
        raise Failed(done.stdout + done.stderr)
    return done.stdout
