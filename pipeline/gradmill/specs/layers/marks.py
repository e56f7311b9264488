"""Reads a file that lists operators: their names, or with keys of the vendor's own."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from yaml.nodes import Node, ScalarNode, SequenceNode

from gradmill.problems.problem import TextError, all_of
from gradmill.specs.layers.lists import mapping_of
from gradmill.specs.values import NodeBudget, load_node, plain_value, text_error


class ListedOperator(Struct, frozen=True, gc=False, array_like=True):
    """An operator in a list of the file."""

    name: str
    listed: str
    keys: dict[str, object]  # those of its mapping, without that of its name
    line: int
    column: int


def read_marks(text: str, lists: tuple[str, ...], whole: str) -> list[ListedOperator]:
    """The operators that the lists of a file have, in their order; without lists, the file is one, with the name
    `whole`. Raises a TextError with all items that name no operator."""
    nodes = mapping_of(text, lists) if lists else {whole: load_node(text)}
    budget = NodeBudget(text)
    found: list[ListedOperator] = []
    errors: list[TextError] = []
    for name in lists or (whole,):
        for node in _items(nodes.get(name), name, errors):
            func, own = _parts(plain_value(node, budget))
            operator = func.partition("(")[0].strip() if isinstance(func, str) else ""
            if not operator:
                hint = "write - add.Tensor, or - func: add.Tensor"
                errors.append(text_error(node, f"an item of {name} does not name an operator", hint))
                continue
            mark = node.start_mark
            found.append(ListedOperator(operator, name, own, mark.line + 1, mark.column + 1))
    if errors:
        raise all_of([*errors])
    return found


def _parts(value: object) -> tuple[object, dict[str, object]]:
    """The operator of an item, and its keys: `NAME`, `{func: NAME, …}`, or `NAME: {…}` as lists of stubs have it."""
    if not isinstance(value, dict):
        return value, {}
    if "func" not in value and len(value) == 1:
        ((name, own),) = value.items()
        if isinstance(own, dict):
            return name, own
    return value.get("func"), {own: each for own, each in value.items() if own != "func"}


def _items(node: Node | None, name: str, errors: list[TextError]) -> Iterator[Node]:
    if isinstance(node, SequenceNode):
        yield from node.value
    elif node is not None and not (isinstance(node, ScalarNode) and not node.value):
        errors.append(text_error(node, f"'{name}' is not a list of operators", "start every item with '- '"))
