"""The commands of the benchmark run, once each: what they measure is of no interest here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from project import ROOT

PAIRS = "bench --no-plot --scale 1 --runs 1 --command gradmill --json {folder}/bench.json"


@pytest.mark.slow
@pytest.mark.alternates(4)
@pytest.mark.usefixtures("torch_specs")  # skips where torch is not installed
@pytest.mark.parametrize(
    "words",
    [
        f"{PAIRS} --only nothing formula grpc-similar",
        f"{PAIRS} --script --only script-nothing script-formula",
        "bench.worker --runs 1",
        "bench.lsp --keys 1",
    ],
)
def test_a_command_of_the_benchmark_runs_and_finds_equal_files(words: str, tmp_path: Path) -> None:
    words = words.format(folder=tmp_path)
    done = subprocess.run([sys.executable, "-m", *words.split()], cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
