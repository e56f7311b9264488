"""Entries that no one writes and torchgen.gen takes: the same verdict for each type of files alone, the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import Project, files_in
from torchgen_gen import Refused, run_gen

from gradmill.cli.commands.torchgen import TYPES

pytestmark = pytest.mark.slow  # many sets in both generators

OUT = "zz.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
STRUCTURED = f"""\
- func: zz(Tensor self) -> Tensor
  structured_delegate: zz.out

- func: {OUT}
  structured: True
  structured_inherits: ''
  dispatch: {{CPU: zz_out}}
"""
ONE = "- func: zz(Tensor self) -> Tensor\n"
ENTRIES = {
    "an argument called out": (
        "- func: zz(Tensor self, Tensor out) -> Tensor\n  dispatch: {CPU: zz}\n  autogen: zz.out\n"
    ),
    "a number called out0": (
        "- func: zz(Tensor self, *, int out0=3) -> (Tensor, Tensor)\n  dispatch: {CPU: zz}\n  autogen: zz.out\n"
    ),
    "no class to inherit from": STRUCTURED,
    "keys of PyTorch's loader": f"{ONE}  __line__: x\n  dispatch: {{CPU: zz, __line__: 1}}\n",
    "one list of tags": (
        f"- func: {OUT}\n  tags: &tags [core]\n\n{ONE}  tags: *tags\n\n"
        "- func: yy_(Tensor(a!) self) -> Tensor(a!)\n  tags: *tags\n\n"
        "- func: yy(Tensor self) -> Tensor\n  tags: *tags\n"
    ),
    "an operator with a slash": "- func: in/zz(Tensor self) -> Tensor\n",
    "namespaces of any text": "\n".join(
        f"- func: {name}::zz{i}(Tensor self) -> Tensor\n" for i, name in enumerate(("a-b", "a b", "a.b", "a$b"))
    ),
    "variants in two namespaces": f"- func: a b::zz(Tensor self) -> Tensor\n\n- func: {OUT}\n",
    "a kernel in three namespaces": f"{ONE}  dispatch: {{CPU: a::b::c::zz}}\n",
    "a structured kernel in three": STRUCTURED.replace(": zz_out", ": a::b::c::zz_out"),
}


@pytest.mark.parametrize("what", ENTRIES)
@pytest.mark.parametrize("form", [0, 1])
def test_the_verdict_and_the_files_are_torchgens(aten: Project, tmp_path: Path, what: str, form: int) -> None:
    aten.path("native_functions.yaml").write_text(ENTRIES[what])
    aten.path("derivatives.yaml").write_text("[]\n")
    for type_ in TYPES:
        (folder := tmp_path / type_).mkdir()
        run = aten.run(families=type_, operator_headers=form)
        try:
            expected = run_gen(
                aten.specs / "ATen", folder, *["--per-operator-headers"] * form, "--generate", type_
            ).files
        except Refused:
            assert (run.status, "error: zz" in run.stderr) == (1, True), type_
            continue
        assert run.status == 0, run.stderr
        files = files_in(aten.generated / "ATen")
        names = {name for name in expected if not name.startswith("aoti")}
        assert {name for name in names if files.get(name) != expected[name]} == set(), type_


def test_two_functions_of_one_name_are_refused_though_torchgen_gives_each_the_kernels_of_both(aten: Project) -> None:
    twice = "\n- func: zz(Tensor self) -> (Tensor, Tensor)\n\n- func: zz(Tensor self, int n) -> Tensor\n"
    aten.append("native_functions.yaml", f"{twice}  dispatch: {{CPU: zz}}\n")
    reason = "error: zz: func: operator 'zz' is declared twice, with kernels for different keys"
    for _ in range(2):
        assert (aten.run(families="aten").status, aten.run(families="aten").stderr.count(reason)) == (1, 1)
    assert aten.run(families="nodes").status == 0
