"""The toy backend in examples/vendor: compiled, loaded into torch as PrivateUse1, differentiated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import forked
import pytest
from cpp import toolchain
from pairs.sets import SETS
from project import ROOT, files_in

EXAMPLE = ROOT / "examples" / "vendor"
NAMES = ("cube", "cube_", "cube_ of a row", "row", "_foreach_cube", "gated", "shifted", "mish")

pytestmark = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())


@pytest.mark.parametrize(("release", "type_"), [("2.12.1", "int64_t"), ("2.15.0", "const at::Scalar &")])
def test_an_operator_has_the_schema_and_the_derivatives_of_each_release_it_lists(
    tmp_path: Path, release: str, type_: str
) -> None:
    SETS["toy"].make(tmp_path, release)
    run = forked.gradmill([f"specs={tmp_path / 'set'}", "generated=generated", "cache=cache"], tmp_path)
    assert (run.status, run.stderr) == (0, "")
    kernels = (tmp_path / "generated" / "VariableType_0.cpp").read_text()
    assert f"shifted(c10::DispatchKeySet ks, const at::Tensor & self, {type_} by)" in kernels


def test_it_generates_kernels_of_its_own_operators_and_of_one_of_pytorchs(tmp_path: Path) -> None:
    run = forked.gradmill([f"specs={EXAMPLE}", "generated=generated", "cache=cache"], tmp_path)
    assert run.status == 0, run.stderr
    actual = {name: data.decode() for name, data in files_in(tmp_path / "generated").items()}
    text = actual["VariableType_0.cpp"]
    pytorchs, _, own = text.partition("TORCH_LIBRARY_IMPL(toy,")
    assert pytorchs.count('m.impl("') == 3, "mish, and its variants"
    assert own.count('m.impl("') == 7
    assert "int64_t by)" not in text, "that schema is for an earlier release"
    assert "toy::_ops::cube::redispatch(ks" in text and "at::redispatch::mish(ks" in text
    assert "ForeachCubeBackward0" in actual["Functions.h"]


@pytest.mark.alternates(2)
@pytest.mark.slow
def test_it_compiles_loads_and_passes_gradcheck(tmp_path: Path) -> None:
    for script in ("build.py", "use.py"):
        command = [sys.executable, str(EXAMPLE / script), str(tmp_path)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr
    passed = [line.partition(":")[0] for line in run.stdout.splitlines() if line.endswith("gradgradcheck pass")]
    assert passed == list(NAMES)
