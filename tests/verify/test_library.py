"""The library of formulas: what does not compile, and with which headers that is found out."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.verify.library import Library
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
