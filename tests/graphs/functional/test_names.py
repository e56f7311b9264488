"""Names of values are none that the generated C++ has for itself."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from project import ROOT

from pipeline.graphs.functional.names import Names, identifier, is_reserved

TEXT = ROOT / "pipeline" / "graphs" / "text"
LOCAL = {"i", "m", "first", "count"}  # of a loop, a lambda, a registration: nothing of a graph's stands in these
_WORD = re.compile(r"(?<![\w:$.>\"])[A-Za-z_]\w*")
_DECLARED = re.compile(
    r"(?:auto|bool|size_t|variable_list|at::Tensor|int64_t|>)[&*]? (?:\[(\w+), (\w+)\]|(\w+))(?= =|;|\))"
)


def of_template() -> set[str]:
    """The words that the template says of functions and Nodes, outside of comments and texts."""
    text = (TEXT / "graph.cpp").read_text().partition("//// source")[0]
    lines = [line for line in text.splitlines() if not line.strip().startswith("//")]
    return set(_WORD.findall(re.sub(r'"[^"]*"|\w*\$\{[^}]*\}\w*', " ", "\n".join(lines))))


def of_statements(path: Path) -> set[str]:
    """What the pieces of C++ in a module declare."""
    found = ast.walk(ast.parse(path.read_text()))
    texts = [node.value for node in found if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return {name for text in texts for names in _DECLARED.findall(text) for name in names if name}


def test_what_the_template_names_is_reserved() -> None:
    assert sorted(name for name in of_template() - LOCAL if not is_reserved(name)) == []


def test_what_statements_declare_is_reserved() -> None:
    found = {name for path in TEXT.rglob("*.py") for name in of_statements(path)}
    assert sorted(name for name in found - LOCAL if not is_reserved(name)) == []


def test_names_of_gradients_and_of_what_is_held_are_not_given() -> None:
    names = Names()
    assert [names.new(each) for each in ("grad_of_x", "the_self", "like_x", "M_PI", "NAN", "x_of_base")] == [
        "v_grad_of_x",
        "v_the_self",
        "v_like_x",
        "v_M_PI",
        "v_NAN",
        "x_of_base_2",
    ]


def test_functions_have_names_of_their_own() -> None:
    names = ["auto", "auto_", "auto__", "f", "f_", "NAN", "NAN_", "TORCH_CHECK", "A"]
    found = [identifier(name) for name in names]
    assert len(set(found)) == len(names)
    assert found[3:5] == ["f", "f_"]
    assert not [each for each in found if is_reserved(each)]
