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


@pytest.mark.parametrize(
    ("steps", "drift", "wrong"), [(1e-6, None, False), (1e-3, None, True), (1e-3, 1e-4, True), (1e-3, 1e-2, False)]
)
def test_steps_of_a_model_may_go_apart_only_as_far_as_those_of_eager(
    steps: float, drift: float | None, wrong: bool
) -> None:
    pytest.importorskip("torch")
    from bench.models.rows import too_far

    found = {"forward": 0.0, "gradients": 1e-7, "buffers": 0.0, "steps": steps, "drift": drift}
    assert too_far(found) == ({"steps": steps} if wrong else {})


def test_a_gradient_that_is_not_a_number_is_too_far() -> None:
    pytest.importorskip("torch")
    from bench.models.rows import too_far

    found = {"forward": 0.0, "gradients": float("nan"), "buffers": 0.0, "steps": 0.0, "drift": 1.0}
    assert [*too_far(found)] == ["gradients"]
