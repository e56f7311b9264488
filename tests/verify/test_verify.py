"""`gradmill verify`: a wrong formula is reported where it stands, and a right one is not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from copies import copy_of
from jsonschema import Draft202012Validator
from project import Project, Run

from gradmill.extensions.verify.library import link
from gradmill.extensions.verify.model import Code, Subject
from gradmill.extensions.verify.process import Checker
from gradmill.extensions.verify.run import installed_torch
from gradmill.problems.problem import SpecError

pytestmark = pytest.mark.slow  # it compiles

# What is made wrong in the specs: the operator, the key, the formula, and the checks that must find it.
WRONG = [
    ("exp", "self", "-grad * result.conj()", "gradient"),
    ("sin", "self", "grad * self.cos().conj().detach()", "second derivative"),
    ("cos", "result", "self_t * self_p.sin()", "tangent for that of self"),
    ("mv", "self", "grad.ger(vec)", "gradient"),
    ("mul.Tensor", "result", "other_t * self_p", "tangent for that of self"),
    ("relu", "self", "grad.masked_fill(self < 0, 0)", "torch's own"),
    ("pow.Tensor_Scalar", "self", "grad * self.pow(exponent)", "gradient"),
    ("div.Scalar", "self", "match_domain(self.scalar_type(), grad.div_(other.conj()))", "overwritten"),
    ("sub.Scalar", "result", "self_t.mul_(1)", "overwritten"),
    ("transpose_", "result", "self_t.transpose(dim0, dim1)", "error"),
    ("lerp.Tensor", "self", "non_differentiable", "gradient where lerp_ writes into a view"),
    (
        "lerp.Tensor",
        "result",
        "end_t * weight_p + weight_t * (end_p - self)",
        "gradient where lerp_ writes into a view",
    ),
    (
        "_foreach_pow.List",
        "result",
        "power_base_adjoint(self_t.conj(), self_p, exponent_p).conj() + exponent_t * 0",
        "tangent for that of exponent[0]",
    ),
]
RIGHT = ["neg", "lerp.Scalar", "sigmoid", "_foreach_add.Scalar"]


@pytest.fixture(scope="module")
def wrong(small_built: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The small set with wrong formulas, one that does not compile, and an operator that torch lacks."""
    project = copy_of(small_built, tmp_path_factory.mktemp("wrong"))
    for operator, key, formula, _ in WRONG:
        project.set_formula(operator, key, formula)
    project.set_formula("add.Scalar", "result", "auto_element_wise")  # of two inputs, one of which has no tangent
    schema = "softcap(Tensor self, float limit) -> Tensor"
    project.append("native_functions.yaml", f"- func: {schema}\n  dispatch: {{CPU: softcap}}")
    formulas = "  self: grad * (1 - (result / limit).pow(2)).conj()\n  result: auto_element_wise"
    project.append("derivatives.yaml", f"- name: {schema}\n{formulas}")
    kernels = project.folder / "kernels.so"
    subprocess.run(["c++", "-shared", "-o", kernels, "-x", "c++", "/dev/null"], check=True)
    (project.folder / "reference.py").write_text(
        f"import ctypes, torch\nctypes.CDLL({str(kernels)!r})\n"
        "def softcap(self, limit):\n    return limit * torch.tanh(self / limit)\n"
    )
    return project


@pytest.fixture(scope="module")
def report(wrong: Project) -> dict[str, Any]:
    """What is found, by operator."""
    names = [*(operator for operator, *_ in WRONG), *RIGHT, "softcap"]
    run = verify(wrong, *names, "--format=json")
    assert run.status == 1, run.stderr
    schema = json.loads(wrong.run("schema", "verify").stdout)
    document = json.loads(run.stdout)
    assert [error.message for error in Draft202012Validator(schema).iter_errors(document)] == []
    rows = document["rows"]
    return {row["operator"].partition("::")[2]: row for row in rows}


def verify(project: Project, *words: str, **variables: object) -> Run:
    """A run, with the reference function of the new operator."""
    return project.gradmill("verify", *words, python=project.folder / "reference.py", **variables)


@pytest.mark.parametrize(("operator", "check"), [(operator, check) for operator, _, _, check in WRONG])
def test_a_wrong_formula_is_found_by_the_check_that_it_fails(report: dict[str, Any], operator: str, check: str) -> None:
    assert check in {each["check"] for each in report[operator]["findings"]}, report[operator]


@pytest.mark.parametrize("operator", [*RIGHT, "softcap"])
def test_a_right_formula_is_verified(report: dict[str, Any], operator: str) -> None:
    row = report[operator]
    assert row["status"] == ("doubtful" if operator == "softcap" else "verified"), row  # limit=0 gives nan
    assert row["checks"]["gradient"] > 10
    assert row["checks"]["tangents"] > 10


def test_a_finding_stands_at_its_formula_with_the_smallest_input(wrong: Project, report: dict[str, Any]) -> None:
    run = verify(wrong, "exp", "relu")
    assert run.status == 1
    assert "derivatives.yaml:" in run.stdout
    assert "error: exp: self: the gradient of self is" in run.stdout
    assert "  self: -grad * result.conj()" in run.stdout
    assert "hint: for self=tensor(" in run.stdout
    assert "warning: relu: self: the gradient of self is [" in run.stdout
    assert "1 wrong, 1 doubtful, with torch " in run.stdout
    run = verify(wrong, "div.Scalar", "sub.Scalar", "transpose_", "lerp.Tensor")
    assert "div.Scalar: self: the formula writes into grad: what it is given must stay as it is" in run.stdout
    assert "sub.Scalar: result: the formula writes into self_t: " in run.stdout
    assert "transpose_: result: the formula raises an error: a tangent of an in-place function must be " in run.stdout
    assert re.search(
        r"the gradient of \w+(\[[\d, ]+\])? where lerp_ writes into a view is \S+, as self has no formula, and by ",
        run.stdout,
    )


def test_a_tangent_in_the_memory_of_an_inputs_is_reported_with_what_to_do(wrong: Project, tmp_path: Path) -> None:
    project = copy_of(wrong, tmp_path)
    project.set_formula("add.Scalar", "result", "self_t")
    run = verify(project, "add.Scalar")
    memory = "the tangent of result is in the memory of that of self, which changes when result is written to"
    assert f"error: add.Scalar: result: {memory} [wrong-derivative]" in run.stdout
    assert "hint: return a copy, as self_t.clone() is; for self=" in run.stdout


def test_what_was_tried_is_printed_for_those_who_ask(wrong: Project, report: dict[str, Any]) -> None:
    (row,) = json.loads(verify(wrong, "neg", "--format=json").stdout)["rows"]
    assert len([each for each in row["tried"] if each.get("checks")]) == sum(row["samples"].values()) > 20
    first = row["tried"][0]
    assert {"gradient", "tangents"} <= set(first["checks"])
    lines = verify(wrong, "neg", "--verbose").stdout.splitlines()
    place = lines.index(f"  {first['source']}: {first['input']}")
    assert lines[place + 1] == f"    checked: {', '.join(first['checks'])}"
    assert f"  {first['source']}: " not in verify(wrong, "neg").stdout


def test_what_only_differs_from_torch_fails_with_strict(wrong: Project, report: dict[str, Any]) -> None:
    assert verify(wrong, "relu").status == 0
    assert verify(wrong, "relu", strict=1).status == 1


def test_a_second_run_compiles_nothing(wrong: Project, report: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    run = verify(wrong, "exp", "neg")
    assert run.status == 1
    assert "2 known from earlier" in run.stdout
    edited = copy_of(wrong, wrong.folder.parent / "edited")
    edited.set_formula("exp", "self", "grad * result.conj() * 2")
    (edited.folder / "reference.py").write_text("")
    assert "no C++ compiler" in verify(edited, "exp").stderr


def test_formulas_are_verified_again_if_a_loaded_library_changed(
    wrong: Project, report: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    kernels = wrong.folder / "kernels.so"
    before = kernels.read_bytes()
    kernels.write_bytes(before + b"rebuilt")
    assert "no C++ compiler" in verify(wrong, "neg").stderr
    kernels.write_bytes(before)
    assert "1 known from earlier" in verify(wrong, "neg").stdout


def test_a_file_of_functions_that_cannot_run_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "reference.py").write_text("import nothing_of_this_name\n")
    subject = Subject("N", "aten::neg", "neg", "neg(Tensor self) -> Tensor", (), (), (), (), (), (), "", ())
    code = Code(subject, "", "")
    library = tmp_path / "empty.so"
    link("c++", [], Path(installed_torch().folder, "lib", "libtorch_cpu.so"), library)
    python = str(tmp_path / "reference.py")
    with Checker(1) as checker, pytest.raises(SpecError, match="No module named 'nothing_of_this_name'"):
        list(checker.check([code], library, tmp_path, python=python))


def test_a_formula_that_cannot_be_checked_is_named_with_the_reason(wrong: Project, tmp_path: Path) -> None:
    project = copy_of(wrong, tmp_path)
    project.set_formula("neg", "self", "grad - std::make_tuple(grad)")
    project.set_formula("sigmoid", "self", "(std::abort(), grad)")
    (project.folder / "reference.py").write_text("")
    run = verify(project, "neg", "sigmoid", "softcap")
    assert run.status == 1
    assert "not checked: NegBackward0: does not compile: " in run.stdout
    assert "make_tuple" in run.stdout or "std::tuple" in run.stdout
    assert "error: sigmoid: self: the formula ends the process with signal 6 [wrong-derivative]" in run.stdout
    assert "the installed torch has no operator aten::softcap" in run.stdout
    assert "1 wrong, 2 not checked" in run.stdout
    assert verify(project, "neg", strict=1).status == 1


def test_torchs_own_samples_are_among_those_of_a_formula(wrong: Project, report: dict[str, Any]) -> None:
    (path,) = wrong.cache.glob("*/verify/samples/*/aten.exp.pt")
    assert torch.load(path, weights_only=True)


def test_an_unknown_name_is_an_error(wrong: Project) -> None:
    verify(wrong, "exq").failed("nothing with formulas is called 'exq'", "did you mean 'exp'?")


# ---- what other commands say of it


def test_explain_and_list_say_what_was_verified(wrong: Project, report: dict[str, Any], tmp_path: Path) -> None:
    project = copy_of(wrong, tmp_path)
    project.set_formula("neg", "self", "grad.neg() * 1")
    python = project.folder / "reference.py"
    listed = json.loads(project.gradmill("list", "--all", "--status", format="json", python=python).stdout)
    states = {each["name"]: each.get("verification") for each in listed}
    assert states["emit:ExpBackward0"].startswith("wrong: the gradient of self is ")
    assert states["emit:ReluBackward0"].startswith("doubtful: the gradient of self is ")
    assert states["emit:SigmoidBackward0"] == "verified"
    assert states["emit:NegBackward0"] == "not verified yet"
    assert states["shard:Functions.cpp"] is None
    schema = json.loads(project.run("schema", "list").stdout)
    assert [error.message for error in Draft202012Validator(schema).iter_errors(listed)] == []
    text = project.gradmill("list", "--all", "--status", python=python).stdout
    assert "sigmoid(Tensor self) -> Tensor (verified)\n" in text
    (explained,) = json.loads(project.gradmill("explain", "ExpBackward0", format="json", python=python).stdout)
    assert explained["verification"] == states["emit:ExpBackward0"]
    assert "\n  not verified yet\n" in project.gradmill("explain", "neg", python=python).stdout
    other = project.gradmill("explain", "exp", python=project.folder / "missing.py")
    assert (other.status, "verified" in other.stdout) == (0, False)


def test_nothing_is_said_where_nothing_was_verified(small_built: Project) -> None:
    assert "verified" not in small_built.gradmill("explain", "exp").stdout
    assert "verified" not in small_built.gradmill("list", "--all", "--status").stdout


# ---- last: it loses the verdicts of the set


def test_verdicts_of_a_damaged_file_are_not_believed(wrong: Project, report: dict[str, Any]) -> None:
    (path,) = wrong.cache.glob("*/verify/verdict-*-NegBackward0-*")
    assert "1 known from earlier" in verify(wrong, "neg").stdout
    path.write_bytes(path.read_bytes().replace(b'"gradient"', b'"gradienx"'))
    assert "known from earlier" not in verify(wrong, "neg").stdout
    assert b'"gradienx"' not in path.read_bytes()
