"""The files that hooks write, of the example: wrappers, classes of structured kernels and computed names, next to the
stubs that torchgen's rules give for the same list of operators."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from project import ROOT

from vendors.vendor import Vendor

EXAMPLE = ROOT / "examples" / "vendor-hooks"
NAMES = ("functors.h", "kernels.h", "structured.cpp", "structured.h", "wrappers.cpp")


@pytest.fixture(scope="module")
def hooked(tmp_path_factory: pytest.TempPathFactory) -> Vendor:
    hooked = Vendor(tmp_path_factory.mktemp("hooks"), EXAMPLE)
    hooked.run().clean()
    return hooked


def stripped(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines())


def test_wrappers_are_what_torchgens_stubs_have(hooked: Vendor) -> None:
    made = hooked.files()
    registered = stripped(made["RegisterPrivateUse1.cpp"])
    wrappers = re.split(r"\n(?=namespace \{|m\.impl)", made["wrappers.cpp"])
    assert len(wrappers) == 14 and all(stripped(each) in registered for each in wrappers)
    assert "expand_symint(self, size, implicit)" in made["wrappers.cpp"]
    header = stripped(made["PrivateUse1NativeFunctions.h"])
    kernels = made["kernels.h"].splitlines()
    assert len(kernels) == len(set(kernels)) == 7 and all(each in header for each in kernels)


def test_structured_kernels_are_what_torchgens_rules_give(hooked: Vendor, tmp_path: Path) -> None:
    other = hooked.copy(tmp_path)
    other.replace("operators.yaml", "device_guard: true", "device_guard: false")
    other.run().clean()
    made = other.files()
    assert {name: made[name] for name in NAMES} == {name: hooked.files()[name] for name in NAMES}
    registered, header = stripped(made["RegisterPrivateUse1.cpp"]), stripped(made["PrivateUse1NativeFunctions.h"])
    wrappers = made["structured.cpp"].split("\n}\n")[:-1]
    assert len(wrappers) == 10 and all(stripped(each) in registered for each in wrappers)
    assert "auto precompute = op.meta(" in made["structured.cpp"]
    classes = made["structured.h"].split("};\n")[:-1]
    assert len(classes) == 4 and all(stripped(each) in header for each in classes)


def test_names_are_computed_and_the_longest_declaration_of_one_wins(hooked: Vendor, tmp_path: Path) -> None:
    names = re.findall(r"using (\w+) = ", hooked.files()["functors.h"])
    assert {"AddTensorFn", "AddInplaceTensorFn", "AddOutFn", "ForeachExpFn"} < set(names)
    other = hooked.copy(tmp_path)
    other.replace("functors.py", '*function.overload.split("_")]', "]")
    other.run(families="hook_files").clean()
    (line,) = re.findall("using AddFn.*", other.files()["functors.h"])
    assert line.endswith("const at::Scalar &, at::Tensor &);"), "that of add.out"


def test_an_edit_writes_the_files_that_differ(hooked: Vendor, tmp_path: Path) -> None:
    hooked = hooked.copy(tmp_path)
    hooked.run().clean()
    assert hooked.run().ran == []
    hooked.replace("functors.py", '+ "Fn"', '+ "Function"')
    assert hooked.run().shards == ["functors.h"]
    hooked.replace("operators.yaml", "  - exp_\n", "")
    assert sorted(hooked.run().shards) == [*sorted({"functors.h", "kernels.h", "wrappers.cpp"} | STUBS)]


STUBS = {"PrivateUse1NativeFunctions.h", "RegisterPrivateUse1.cpp"}
