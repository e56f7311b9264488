"""Names of values never clash with names in the generated C++."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from project import ROOT

from pipeline.graphs.functional.names import Names, identifier, is_reserved

TEXT = ROOT / "pipeline" / "graphs" / "text"
LOCAL = {"i", "m", "first", "count"}  # names local to a loop, a lambda, a registration, which use no value of a graph
_WORD = re.compile(r"(?<![\w:$.>\"])[A-Za-z_]\w*")
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
    assert [names.new(each) for each in ("grad_of_x", "the_self", "like_x", "M_PI", "NAN", "x_of_base")] == [
        "v_grad_of_x",
        "v_the_self",
        "v_like_x",
        "v_M_PI",
        "v_NAN",
        "x_of_base_2",
    ]


def test_functions_have_distinct_cpp_names() -> None:
    names = ["auto", "auto_", "auto__", "f", "f_", "NAN", "NAN_", "TORCH_CHECK", "A"]
    cpp_names = [identifier(name) for name in names]
    assert len(set(cpp_names)) == len(names)
    assert cpp_names[3:5] == ["f", "f_"]
    assert not [each for each in cpp_names if is_reserved(each)]
