"""Torch's compiler is not imported where it is not needed, and is there where it is."""

from __future__ import annotations

import subprocess
import sys

import pytest
from project import ROOT

from gradmill.extensions.verify.child.compiler import StandIn

pytestmark = pytest.mark.slow  # it compiles

RECORDING = """
import sys
from gradmill.extensions.verify.child import compiler
compiler.leave_out()
import torch
from torch.autograd import forward_ad
from gradmill.extensions.verify.child.formulas import dual
from gradmill.extensions.verify.child.__main__ import _warm_up
from gradmill.extensions.verify.child.from_opinfo import recorded
_warm_up()
print(len(recorded("aten::atan2", None)))
with forward_ad.dual_level():
    torch.atan2(dual(torch.ones(2), torch.ones(2)), torch.tensor([1, 2]))
print(*(name for name in compiler.KNOWN if not isinstance(sys.modules[name], compiler.StandIn)))
print(torch._dynamo.is_compiling(), type(sys.modules["torch._dynamo"]).__name__)
"""


def test_samples_of_torch_are_recorded_without_its_compiler() -> None:
    words = [sys.executable, "-c", RECORDING]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    count, imported, after = done.stdout.splitlines()
    assert (int(count) > 0, imported, after) == (True, "", "False module")


def test_a_stand_in_becomes_the_module_when_more_of_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = StandIn("colorsys", {"ONE_THIRD": 1})
    monkeypatch.setitem(sys.modules, "colorsys", stand_in)
    assert __import__("colorsys").ONE_THIRD == 1
    assert sys.modules["colorsys"] is stand_in
    assert stand_in.rgb_to_hls(0, 0, 0) == (0, 0, 0)
    assert sys.modules["colorsys"] is not stand_in
    assert not hasattr(stand_in, "__wrapped__")
