"""Names of values never clash with names in the generated C++."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import subprocess
import types
from pathlib import Path

import pytest
import torch
from cpp import toolchain
from project import ROOT

from gradmill.extensions.graphs.arguments import _NO_NAMES
from gradmill.extensions.graphs.passes.functionalize.names import (
    _RESERVED,
    Names,
    identifier,
    is_reserved,
    namespace_of,
)
from graphs import library

TEXT = ROOT / "pipeline" / "gradmill" / "extensions" / "graphs" / "print"
LOCAL = {"i", "m", "first", "count"}  # names local to a loop, a lambda, a registration, which use no value of a graph
_WORD = re.compile(r"(?<![\w:$.>\"])[A-Za-z_]\w*")
PARTS = {"TypeAndSize", "aten", "python"}  # of names that begin with another, or with none in C++
_DECLARED = re.compile(
    r"(?:auto|bool|size_t|variable_list|at::Tensor|int64_t|>)[&*]? (?:\[(\w+), (\w+)\]|(\w+))(?= =|;|\))"
)


def of_template() -> set[str]:
    """The words in the template of functions and Nodes, outside comments and strings."""
    text = (TEXT / "graph.cpp").read_text().partition("//// source")[0]
    lines = [line for line in text.splitlines() if not line.strip().startswith("//")]
    return set(_WORD.findall(re.sub(r'"[^"]*"|\w*\$\{[^}]*\}\w*', " ", "\n".join(lines))))


def of_statements(path: Path) -> set[str]:
    """The names that the pieces of C++ in a module declare."""
    nodes = ast.walk(ast.parse(path.read_text()))
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return {name for text in texts for names in _DECLARED.findall(text) for name in names if name}


def test_names_in_the_template_are_reserved() -> None:
    assert sorted(name for name in of_template() - LOCAL if not is_reserved(name)) == []


def test_names_that_statements_declare_are_reserved() -> None:
    declared = {name for path in TEXT.rglob("*.py") for name in of_statements(path)}
    assert sorted(name for name in declared - LOCAL if not is_reserved(name)) == []


def test_a_value_never_gets_the_name_of_a_gradient_or_a_saved_value() -> None:
    names = Names()
    given = ("grad_of_x", "the_self", "like_x", "M_PI", "NAN", "I", "timeradd", "x_of_base")
    assert [names.new(each) for each in given] == [
        "v_grad_of_x",
        "v_the_self",
        "v_like_x",
        "v_M_PI",
        "v_NAN",
        "v_I",
        "v_timeradd",
        "x_of_base_2",
    ]


def test_what_sources_name_is_reserved() -> None:
    texts = [path.read_text() for path in TEXT.rglob("*") if path.suffix in (".py", ".h", ".cpp")]
    first = {name for text in texts for name in re.findall(r"(?<![\w:.>])([A-Za-z]\w*)::", text)}
    of_sources = (TEXT / "graph.h").read_text().partition("\nnamespace gradmill::graphs {\n")[2]
    brought = set(re.findall(r"using (?:\w+::)+(\w+);", of_sources))
    assert {"at", "c10", "std", "torch", "graph", "gradmill"} <= first and "SavedVariable" in brought
    used = (first | brought) - PARTS
    assert sorted(name for name in used if not is_reserved(name) or namespace_of(name) == name) == []


@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
def test_macros_are_reserved() -> None:
    """Those of all headers that sources of graphs include, in the dialect with the most."""
    headers = ["graph.h", "graph_formulas.h", "graph_state.h", "torch/csrc/autograd/generated/Functions.h"]
    command = ["c++", *library.flags("-O0"), "-std=gnu++20", f"-I{TEXT}", "-dM", "-E", "-x", "c++", "-"]
    source = "".join(f'#include "{name}"\n' for name in headers)
    ended = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    macros = {line.split()[1].partition("(")[0] for line in ended.stdout.splitlines()}
    assert {"NULL", "EOF", "assert", "errno"} <= macros
    own = {name for name in macros if not name.startswith("_")}
    assert sorted(name for name in own if identifier(name) == name or Names().new(name) in macros) == []


def test_names_that_the_compiler_reserves_name_no_namespace() -> None:
    names = ["_Foo", "__x", "__", "_1", "_x", "net", "a__b"]
    assert [namespace_of(name) for name in names] == ["Foo", "x", "graphs", "_1", "_x", "net", "a__b"]


def test_words_that_schemas_have_for_no_name() -> None:
    """An operator, or an argument, with such a name is an error when the library is loaded."""
    refused = set()
    for name in {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *dir(types), *_RESERVED}:
        try:
            torch._C.parse_schema(f"ns::{name}(Tensor {name}) -> Tensor")
        except RuntimeError:
            refused.add(name)
    assert refused == _NO_NAMES


def test_functions_have_distinct_cpp_names() -> None:
    names = ["auto", "auto_", "auto__", "f", "f_", "NAN", "NAN_", "TORCH_CHECK", "A"]
    cpp_names = [identifier(name) for name in names]
    assert len(set(cpp_names)) == len(names)
    assert cpp_names[3:5] == ["f", "f_"]
    assert not [each for each in cpp_names if is_reserved(each)]


@pytest.mark.slow(15)
@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
def test_names_of_cpp_and_macros_compile(tmp_path: Path) -> None:
    """Of files, of parameters, and of the namespace of operators."""
    graphs = tmp_path / "graphs"
    graphs.mkdir()
    for name in ("new", "default", "std", "at", "EOF", "gradmill"):
        parameters = ", ".join(f"{each}: Tensor" for each in ("x", "I", "EOF", "timeradd", "needs", "gate_x"))
        source = f"def of_{name}({parameters}) -> Tensor:\n    return x * I * EOF * timeradd * needs * gate_x\n"
        (graphs / f"{name}.py").write_text(f"from torch import Tensor\n\n\n{source}")
    generated = library.generate(graphs, tmp_path, "EOF")
    torch.ops.load_library(str(library.linked([library.together(generated)], tmp_path / "named.so")))
    two = torch.full((), 2.0)
    assert [getattr(torch.ops.EOF, f"of_{each.stem}")(*[two] * 6).item() for each in graphs.iterdir()] == [64.0] * 6
