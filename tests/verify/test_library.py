"""The library of formulas: what does not compile, and with which headers that is found out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from project import ROOT

from pipeline.verify.library import Library
from pipeline.verify.linking import link
from pipeline.verify.model import Code, Subject
from pipeline.verify.run import installed_torch


@pytest.mark.parametrize("formula", ["x - std::make_tuple(x)", "std::vector<at::Tensor>{x}.detach()", "x +"])
def test_an_error_of_the_formula_itself_needs_no_other_headers(formula: str, tmp_path: Path) -> None:
    subject = Subject("Mine", "aten::mine", "mine", "mine(Tensor x) -> Tensor", (), ("x",), (), (), (), (), "", ())
    code = Code(subject, f"at::Tensor mine(at::Tensor x) {{ return {formula}; }}", frozenset(), "")
    built = Library(tmp_path, installed_torch()).build([code])
    assert built.path is None
    assert built.failed["Mine"]
    assert [path.suffix for path in tmp_path.iterdir() if path.is_dir()] == [".slim"]


ANSWERS = """
extern "C" int aoti_torch_device_type_cuda();
extern "C" int aoti_torch_device_type_cpu() { return 7; } // libtorch's, which it exports, returns 0
extern "C" int answer() { return 10 * aoti_torch_device_type_cuda() + aoti_torch_device_type_cpu(); }
"""
LOADING = """
import sys, torch
from pipeline.verify.child.loading import load
print(load(sys.argv[1]).answer())
"""


def test_a_library_finds_what_libtorch_exports_and_calls_its_own_of_the_same_name(tmp_path: Path) -> None:
    source, object_, library = (tmp_path / name for name in ("answers.cpp", "answers.o", "answers.so"))
    source.write_text(ANSWERS)
    subprocess.run(["c++", "-fPIC", "-c", source, "-o", object_], check=True)
    link("c++", [object_], Path(installed_torch().folder, "lib", "libtorch_cpu.so"), library)
    words = [sys.executable, "-c", LOADING, library]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.stdout, done.stderr) == ("17\n", "")
