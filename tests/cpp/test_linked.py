"""Generated sources compile, link and load, and torch's dispatcher knows each kernel once."""

from __future__ import annotations

import subprocess
import sys

import pytest
from project import ROOT

from cpp import toolchain


@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
@pytest.mark.parametrize(
    "words",
    [
        pytest.param("tests.linked --only toy", marks=pytest.mark.slow(35)),
        pytest.param("tests.linked --only core", marks=pytest.mark.campaign),
    ],
)
def test_each_kernel_is_registered_once_in_the_loaded_library(words: str) -> None:
    command = [sys.executable, "-m", *words.split()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-8000:]
    assert ": 0 kernels" not in done.stdout and "kernels, each registered once" in done.stdout
