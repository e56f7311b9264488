"""`.pt2` files with sizes that are known at run time: one graph serves all sizes, and refuses those that do not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from torch.export import save

from graphs import models
from graphs.test_exported import edited, refused

pytestmark = pytest.mark.filterwarnings("ignore")


def sized(folder: Path) -> Path:
    save(models.exported("sized"), folder / "sized.pt2")
    return folder / "sized.pt2"


FAULTS = {
    "no code": ("__import__('os').getcwd()", "the size '__import__('os')"),
    "an unknown function": ("Zeta(Symbol('s77'), Integer(2))", "the size 'Zeta(s77, 2)' is not supported in a graph"),
    "an unknown symbol": ("Add(Symbol('s1'), Symbol('s2'))", "no size of an input determines 's1'"),
    "a quotient that is no whole number": (
        "IntTrueDiv(Symbol('s77'), Integer(2))",
        "the size 'IntTrueDiv(s77, 2)' is not supported in a graph",
    ),
    "no expression": ("Add(", "the size of an input cannot be read"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_expression_that_cannot_be_used_is_refused(fault: str, tmp_path: Path) -> None:
    text, problem = FAULTS[fault]

    def edit(model: Any) -> Any:
        model["graph_module"]["graph"]["tensor_values"]["y"]["sizes"][0]["as_expr"]["expr_str"] = text
        return model

    path = sized(tmp_path)
    assert problem in refused(edited(path, tmp_path, edit))


def test_an_unsupported_number_is_one_error_however_often_it_is_used(tmp_path: Path) -> None:
    def edit(model: Any) -> Any:
        (node,) = (each for each in model["graph_module"]["graph"]["nodes"] if each["target"] == "torch._sym_sqrt")
        node["target"] = "torch._sym_gamma"
        return model

    save(models.exported("computed"), tmp_path / "computed.pt2")
    text = refused(edited(tmp_path / "computed.pt2", tmp_path, edit))
    assert "the operator 'torch._sym_gamma' is not supported in a graph" in text
    assert text.count("error:") == 1 and "damaged" not in text


def test_a_decision_that_cannot_be_checked_is_refused(tmp_path: Path) -> None:
    def edit(model: Any) -> Any:
        return {**model, "guards_code": ["__import__('os').getcwd() == L['x'].size()[0]"]}

    text = refused(edited(sized(tmp_path), tmp_path, edit))
    assert "the export depends on '__import__('os').getcwd() == L['x'].size()[0]', which a graph cannot check" in text
