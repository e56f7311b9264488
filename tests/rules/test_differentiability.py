"""Differentiable outputs and dispatch strategies equal torchgen's, for every function of the release."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
ORACLE = ROOT / "tests" / "torchgen_oracle.py"


@pytest.mark.skipif(find_spec("torchgen") is None, reason="needs torch: its own torchgen is the oracle")
def test_every_function_has_torchgens_strategy_and_differentiable_outputs(tmp_path: Path) -> None:
    spec = find_spec("torchgen")
    assert spec is not None and spec.submodule_search_locations
    packaged = Path(spec.submodule_search_locations[0]) / "packaged"
    expected = tmp_path / "expected.jsonl"
    inputs = {
        "native": "ATen/native/native_functions.yaml",
        "tags": "ATen/native/tags.yaml",
        "derivatives": "autograd/derivatives.yaml",
        "templates": "autograd/templates",
    }
    options = [part for name, path in inputs.items() for part in (f"--{name}", str(packaged / path))]
    subprocess.run([sys.executable, ORACLE, *options, "--differentiability", expected], check=True)
    shown = subprocess.run(
        [sys.executable, "-m", "doit", "show", "differentiability", "specs=torch", f"cache={tmp_path / 'cache'}"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    ours = [json.loads(line) for line in shown.stdout.splitlines()]
    theirs = [json.loads(line) for line in expected.read_text().splitlines()]
    assert ours == theirs
