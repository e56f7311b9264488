"""The slim headers of `examples/slim`: what is left out, what the launcher runs, and that torch's own formulas load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from cpp import toolchain
from project import ROOT, Project

from examples.slim import slim

SLIM = ROOT / "examples" / "slim" / "slim.py"
# A torch of a few headers: `light.h` leads to nothing slow, `heavy.h` does, through another header.
TORCH = {
    "ATen/core/ivalue.h": "template <typename T>\nstruct OptionalArray {\n  T list;\n};\nstruct IValue;\n",
    "ATen/core/List.h": "namespace torch {\n  template<class T> using List = c10::List<T>;\n}\n",
    "light.h": "",
    "heavy.h": '#include "between.h"\n',
    "between.h": "#include <ATen/core/ivalue.h>\n",
    "ATen/ops/add.h": "#pragma once\n#include <heavy.h>\n#include <light.h>\nadd();\n",
    "ATen/Functions.h": "//   #include <ATen/ops/none.h>\n#include <ATen/ops/add.h>\n",
    "ATen/TensorOperators.h": "#include <ATen/Functions.h>\n",
    "ATen/ATen.h": "#include <ATen/Functions.h>\n#include <ATen/TensorOperators.h>\n#include <heavy.h>\n",
    "torch/csrc/autograd/FunctionsManual.h": "#include <ATen/ATen.h>\n#include <heavy.h>\nTensor helper();\n",
    "torch/csrc/autograd/generated/Functions.h": "#include <ATen/ATen.h>\nusing at::Scalar;\nstruct Node {};\n",
    "torch/csrc/autograd/node.h": "#include <heavy.h>\n#include <light.h>\n"
    "using Variable = at::Tensor;\nusing variable_list = std::vector<Variable>;\nusing IndexRange = Pair;\n",
    "torch/csrc/autograd/function.h": "#include <heavy.h>\nstruct TypeAndSize {\n  int size;\n};\nstruct Other {\n};\n",
    "torch/csrc/autograd/variable.h": "",
    "torch/csrc/autograd/saved_variable.h": "",
}
# A compiler that writes its arguments into the object, and refuses slim sources that contain `IValue`.
COMPILER = """\
#!/bin/sh
for word in "$@"; do case "$word" in *.cpp) source=$word;; esac; done
if grep -q wrong "$source"; then echo "$source:1:1: error: wrong" >&2; exit 1; fi
case "$*" in *-Wfatal-errors*)
  if grep -q IValue "$source"; then echo "$source:1:1: error: IValue is incomplete" >&2; exit 1; fi
  echo "a warning" >&2;;
esac
echo "$*" > object
"""


@pytest.fixture
def include(tmp_path: Path) -> Path:
    for name, text in TORCH.items():
        path = tmp_path / "include" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "include"


def test_what_leads_to_slow_headers_is_left_out(include: Path) -> None:
    texts = slim.slim_headers(str(include))
    operator = texts["ATen/ops/add.h"]
    assert "heavy.h" not in operator
    assert "#include <light.h>\nadd();\n" in operator
    assert operator.count("#pragma once") == 1
    assert "#include <ATen/ops/add.h>" in texts["ATen/Functions.h"]
    assert "heavy.h" not in texts["ATen/ATen.h"]
    assert "Tensor helper();\n" in texts[slim.MANUAL]


def test_headers_of_nodes_give_only_what_formulas_use(include: Path) -> None:
    text = slim.slim_headers(str(include))[slim.FUNCTIONS]
    for declared in (
        "using variable_list = std::vector<Variable>;",
        "struct TypeAndSize {\n  int size;\n};",
        "T list;",
    ):
        assert declared in text
    assert "using at::Scalar;" in text
    assert "#include <light.h>" in text
    for left_out in ("heavy.h", "struct Node", "struct Other", "IValue"):
        assert left_out not in text


def test_a_torch_without_a_declaration_has_no_slim_headers(include: Path, tmp_path: Path) -> None:
    (include / "torch/csrc/autograd/function.h").write_text("#include <heavy.h>\n")
    command = [sys.executable, "-I", "-S", SLIM, "headers", include, tmp_path / "generated", tmp_path / "out"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("slim.py: no slim headers for this torch: TypeAndSize is not declared in ")
    assert not (tmp_path / "out").exists()


def test_unchanged_headers_keep_their_times(include: Path, tmp_path: Path) -> None:
    slim.write(str(include), "generated", str(tmp_path / "out"))
    path = tmp_path / "out" / "slim" / slim.MANUAL
    before = path.stat().st_mtime_ns
    slim.write(str(include), "generated", str(tmp_path / "out"))
    assert path.stat().st_mtime_ns == before


class Compiled(NamedTuple):
    status: int
    object: str  # the arguments of the last compiler that succeeded
    output: str
    errors: str


def compiled(folder: Path, name: str, text: str) -> Compiled:
    """What the launcher does with a source, and the compiler above."""
    compiler = folder / "compiler"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    (folder / name).write_text(text)
    command = ["./compiler", "-O2", "-Winvalid-pch", "-include", "pch.h", "-c", name, "-o", "object"]
    launcher = [sys.executable, "-I", "-S", SLIM, "compile", "headers", "prelude.h"]
    done = subprocess.run([*launcher, *command], cwd=folder, check=False, capture_output=True, text=True)
    made = folder / "object"
    assert not list(folder.glob("*.log"))
    return Compiled(done.returncode, made.read_text() if made.exists() else "", done.stdout, done.stderr)


UNCHANGED = "-O2 -Winvalid-pch -include pch.h -c {} -o object\n"
FORMULAS = "Functions_0_formulas.cpp"
SLIM_COMMAND = f"-Iheaders/slim -O2 -Winvalid-pch -c {FORMULAS} -o object -include prelude.h -Wfatal-errors\n"
REASON = f"{FORMULAS}: compiled with torch's own headers: IValue is incomplete\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (FORMULAS, "grad;", Compiled(0, SLIM_COMMAND, "", "a warning\n")),
        (FORMULAS, "IValue;", Compiled(0, UNCHANGED.format(FORMULAS), REASON, "")),
        (FORMULAS, "wrong;", Compiled(1, "", "", f"{FORMULAS}:1:1: error: wrong\n")),
        ("Functions_0.cpp", "IValue;", Compiled(0, UNCHANGED.format("Functions_0.cpp"), "", "")),
    ],
    ids=[
        "slim",
        "unchanged if they need more",
        "with the errors of the unchanged command",
        "unchanged: another source",
    ],
)
def test_formulas_compile(tmp_path: Path, name: str, text: str, expected: Compiled) -> None:
    assert compiled(tmp_path, name, text) == expected


def test_a_compiler_that_is_missing_is_named(tmp_path: Path) -> None:
    command = [sys.executable, SLIM, "compile", tmp_path, "prelude.h", "no-compiler", "-c", "a.cpp", "-o", "a.o"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (127, "slim.py: no-compiler: No such file or directory\n")


def test_clang_s_precompiled_header_is_replaced_too() -> None:
    words = "clang++ -Xclang -include-pch -Xclang a.pch -Xclang -include -Xclang a.hxx -Xclang -x -c a.cpp"
    command = slim.slim_command("headers", "prelude.h", words.split())
    assert " ".join(command) == "clang++ -Iheaders/slim -Xclang -x -c a.cpp -include prelude.h -Wfatal-errors"


FORMULA = "- name: digamma(Tensor self) -> Tensor\n  self: grad * "
NEEDS_MORE = """\
#include "torch/csrc/autograd/FunctionsManual.h"
bool none() { return at::IValue().isNone(); }
"""


@pytest.mark.slow(20)
def test_an_edited_formula_of_torch_compiles_slim_and_loads(torch_project: Project, tmp_path: Path) -> None:
    if reason := toolchain.missing():
        pytest.skip(reason)
    torch_project.replace("derivatives.yaml", FORMULA, f"{FORMULA}2 * ")
    assert torch_project.run(layout="split", shards="512", families="nodes").status == 0
    generated = torch_project.generated
    (source,) = (p for p in generated.glob("*_formulas.cpp") if "DigammaBackward0_apply" in p.read_text())
    assert "grad * 2 * polygamma" in source.read_text()
    slim.write(f"{toolchain.torch_folder()}/include", str(generated), str(tmp_path / "out"))
    assert compiled_for_torch(source, tmp_path) == ""
    library = tmp_path / "library.so"
    subprocess.run(["c++", str(tmp_path / "object.o"), "-o", library, *toolchain.link_flags()], check=True)
    subprocess.run([sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(library)!r}, 2)"], check=True)

    (tmp_path / "more_formulas.cpp").write_text(NEEDS_MORE)
    output = compiled_for_torch(tmp_path / "more_formulas.cpp", tmp_path)
    assert output.startswith("more_formulas.cpp: compiled with torch's own headers: ")
    assert "IValue" in output


@pytest.mark.campaign
def test_all_formulas_of_torch_compile_slim_but_those_of_few_sources(torch_project: Project, tmp_path: Path) -> None:
    if reason := toolchain.missing():
        pytest.skip(reason)
    assert torch_project.run(layout="split", shards="64", families="nodes").status == 0
    generated = torch_project.generated
    slim.write(f"{toolchain.torch_folder()}/include", str(generated), str(tmp_path / "out"))
    needy = [text for path in sorted(generated.glob("*_formulas.cpp")) if (text := compiled_for_torch(path, tmp_path))]
    assert len(needy) <= 3, needy


def compiled_for_torch(source: Path, folder: Path) -> str:
    """What the launcher prints for a source."""
    prelude = folder / "out" / "slim" / slim.PRELUDE
    launcher = [sys.executable, "-I", "-S", SLIM, "compile", folder / "out", prelude]
    flags = [*toolchain.compile_flags(folder / "out"), *toolchain.hasty_flags()]
    command = [*launcher, "c++", *flags, "-c", source, "-o", folder / "object.o"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
