"""The library of formulas: what does not compile, and with which headers that is found out."""

from __future__ import annotations

from pathlib import Path

from pipeline.verify.library import Library
from pipeline.verify.model import Code, Subject
from pipeline.verify.run import installed_torch

FORMULAS = {"Type": "x - std::make_tuple(x)", "Member": "std::vector<at::Tensor>{x}.detach()", "Syntax": "x +"}


def test_an_error_of_the_formula_itself_needs_no_other_headers(tmp_path: Path) -> None:
    codes = []
    for name, formula in FORMULAS.items():
        subject = Subject(name, "aten::mine", "mine", "mine(Tensor x) -> Tensor", (), ("x",), (), (), (), (), "", ())
        codes.append(Code(subject, f"at::Tensor mine{name}(at::Tensor x) {{ return {formula}; }}", frozenset(), ""))
    built = Library(tmp_path, installed_torch()).build(codes)
    assert built.path is None
    assert built.failed.keys() == FORMULAS.keys()
    assert {path.suffix for path in tmp_path.iterdir() if path.is_dir()} == {".slim"}
