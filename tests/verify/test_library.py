"""The library of formulas: what does not compile, and with which headers that is found out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from project import ROOT

from gradmill.extensions.verify.library import Library, link
from gradmill.extensions.verify.model import Code, Subject
from gradmill.extensions.verify.run import installed_torch

pytestmark = pytest.mark.slow  # it compiles

FORMULAS = {
    "Name": "no_such_helper(x)",
    "In": "at::no_such_helper(x)",
    "Tangent": "x * self_t",
    "Method": "x.cnoj()",
    "Type": "x - std::make_tuple(x)",
    "Member": "std::vector<at::Tensor>{x}.detach()",
    "Syntax": "x +",
    "Header": "at::globalContext().userEnabledMkldnn() ? x : x + 1",
    "Right": "x + 1",
}


def test_formulas_that_do_not_compile_are_left_out_once_torchs_own_headers_do_not_help(tmp_path: Path) -> None:
    codes = []
    for name, formula in FORMULAS.items():
        subject = Subject(name, "aten::mine", "mine", "mine(Tensor x) -> Tensor", (), ("x",), (), (), (), (), "", ())
        codes.append(Code(subject, f"at::Tensor mine{name}(at::Tensor x) {{ return {formula}; }}", ""))
    built = Library(tmp_path, installed_torch()).build(codes)
    assert built.path is not None
    assert built.failed.keys() == FORMULAS.keys() - {"Header", "Right"}
    assert sum(path.suffix == ".whole" for path in tmp_path.iterdir() if path.is_dir()) == 2


ANSWERS = """
extern "C" int aoti_torch_device_type_cuda();
extern "C" int aoti_torch_device_type_cpu() { return 7; } // libtorch's, which it exports, returns 0
namespace torch::autograd::generated::details {
extern const char* kCudnnDoubleBackwardMsg; // which libtorch hides
}
extern "C" const void* hidden() { return &torch::autograd::generated::details::kCudnnDoubleBackwardMsg; }
extern "C" int answer() { return 10 * aoti_torch_device_type_cuda() + aoti_torch_device_type_cpu(); }
"""
LOADING = """
import sys, torch
from gradmill.extensions.verify.child.operators import load
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


def test_a_program_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = Path(installed_torch().folder, "lib", "libtorch_cpu.so")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LookupError, match="no program nm, which reads the symbols of libtorch: install binutils"):
        link("c++", [tmp_path / "answers.o"], torch, tmp_path / "answers.so")
