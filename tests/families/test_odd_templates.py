"""Odd templates are filled as torchgen fills them: indented, inline and repeated holes, odd white space."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from never_wrong.mutations import judge
from never_wrong.oracle import Oracle
from project import ROOT

BASE = ROOT / "tests" / "bad" / "base"
H, CPP, PY = "Functions.h", "Functions.cpp", "python_functions.cpp"
DECLARATIONS, DEFINITIONS = "${autograd_function_declarations}", "${autograd_function_definitions}"
INITIALIZERS, PROPERTIES = "${py_function_initializers}", "${py_function_props_and_getters}"

# A template, a piece of its text, and what that becomes.
ODD: dict[str, tuple[str, str, str]] = {
    "indented": (H, DECLARATIONS, f"    {DECLARATIONS}"),
    "indented by a tab": (CPP, DEFINITIONS, f"\t{DEFINITIONS}"),
    "inline": (H, DECLARATIONS, f"int x; {DECLARATIONS} int y;"),
    "inline definitions": (CPP, DEFINITIONS, f"x {DEFINITIONS}"),
    "with commas": (CPP, DEFINITIONS, "f(a${,autograd_function_definitions}, b${autograd_function_definitions,})"),
    "repeated": (CPP, DEFINITIONS, f"{DEFINITIONS}\n  {DEFINITIONS}\nx {DEFINITIONS}"),
    "of another file": (H, DECLARATIONS, f"{DECLARATIONS}\n{DECLARATIONS}{DEFINITIONS}"),
    "indented by a form feed": (CPP, DEFINITIONS, f"\f{DEFINITIONS}"),
    "indented by spaces and a form feed": (CPP, DEFINITIONS, f" \f  {DEFINITIONS}\n\f\f x"),
    "indented by a vertical tab": (H, DECLARATIONS, f"\x0b{DECLARATIONS}"),
    "indented by a line end of Unicode": (H, DECLARATIONS, f"\u2028\u00a0{DECLARATIONS}"),
    "after a byte-order mark": (H, "#pragma once", f"\ufeff{DECLARATIONS}"),
    "no hole": (H, DECLARATIONS, f"{DECLARATIONS}\n${{a b}} ${{}} ${{"),
    "without braces": (H, DECLARATIONS, "$autograd_function_declarations"),
    "initializers inline": (PY, INITIALIZERS, f"x {INITIALIZERS}"),
    "properties indented": (PY, PROPERTIES, f"  {PROPERTIES}"),
    "properties inline before a class": (PY, PROPERTIES, f'x {PROPERTIES}\n"""\n\n\n class'),
    "constants": (
        PY,
        INITIALIZERS,
        f"{INITIALIZERS}\n  ${{shard_id}} ${{generated_comment}}\n  ${{generated_comment}}",
    ),
    "lines of Windows": (H, "\n", "\r\n"),
}


@pytest.mark.parametrize("what", ODD)
def test_an_odd_template_is_filled_as_torchgen_fills_it(what: str, torchgen: Oracle, tmp_path: Path) -> None:
    name, old, new = ODD[what]
    specs = Path(shutil.copytree(BASE, tmp_path / "set"))
    path = specs / "templates" / name
    text = path.read_text()
    assert old in text
    path.write_bytes(text.replace(old, new).encode())
    verdict = judge(specs, tmp_path / "scratch", torchgen)
    assert (verdict.accepted, verdict.wrong) == (True, ""), verdict.detail


def test_a_docstring_within_a_formula_is_spaced_as_torchgen_spaces_it(torchgen: Oracle, tmp_path: Path) -> None:
    specs = Path(shutil.copytree(BASE, tmp_path / "set"))
    path = specs / "derivatives.yaml"
    text = path.read_text()
    assert text.count("grad * result\n") == 1
    path.write_text(text.replace("grad * result\n", '"grad * result /* \\"\\"\\"\\n\\n\\n\\n class */"\n'))
    verdict = judge(specs, tmp_path / "scratch", torchgen)
    assert (verdict.accepted, verdict.wrong) == (True, ""), verdict.detail


def test_a_docstring_around_an_empty_hole_is_spaced_as_torchgen_spaces_it(torchgen: Oracle, tmp_path: Path) -> None:
    specs = Path(shutil.copytree(BASE, tmp_path / "set"))
    template, derivatives = specs / "templates" / PY, specs / "derivatives.yaml"
    template.write_text(template.read_text().replace(INITIALIZERS, f'""{INITIALIZERS}"\n\n\n\n class'))
    one = derivatives.read_text().split("\n\n- name: ")[1]  # so that most shards have no initializers
    derivatives.write_text(f"- name: {one}\n")
    verdict = judge(specs, tmp_path / "scratch", torchgen)
    assert (verdict.accepted, verdict.wrong) == (True, ""), verdict.detail
