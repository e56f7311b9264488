"""Reads a file that lists operators: their names, or mappings with `func` and keys of the vendor's own."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from yaml.nodes import Node, ScalarNode, SequenceNode

from pipeline.problems.problem import TextError, all_of
from pipeline.specs.layers.lists import check_lists, mapping_of
from pipeline.specs.values import NodeBudget, plain_value, text_error


class ListedOperator(Struct, frozen=True, gc=False, array_like=True):
    """An operator in a list of the file."""

    name: str
    listed: str
    keys: dict[str, object]  # those of its mapping, without that of its name
    schema: str  # "" if only its name is listed
    line: int
    column: int


def read_marks(text: str, lists: tuple[str, ...], key: str) -> list[ListedOperator]:
    """The operators that the lists of a file have, in their order. `key`: that of an item with its operator.

    Raises a SpecError if the file has none of the lists, or a TextError with all items that name no operator."""
    check_lists(text, lists)
    mapping, budget = mapping_of(text, lists), NodeBudget(text)
    found: list[ListedOperator] = []
    errors: list[TextError] = []
    for name in lists:
        for node in _items(mapping.get(name), name, errors):
            value = plain_value(node, budget)
            func = value.get(key) if isinstance(value, dict) else value
            operator = func.partition("(")[0].strip() if isinstance(func, str) else ""
            if not isinstance(func, str) or not operator:
                hint = f"write - add.Tensor, or - {key}: add.Tensor"
                errors.append(text_error(node, f"an item of {name} does not name an operator", hint))
                continue
            keys = {own: each for own, each in value.items() if own != key} if isinstance(value, dict) else {}
            mark = node.start_mark
            schema = func if "(" in func else ""
            found.append(ListedOperator(operator, name, keys, schema, mark.line + 1, mark.column + 1))
    if errors:
        raise all_of([*errors])
    return found


def _items(node: Node | None, name: str, errors: list[TextError]) -> Iterator[Node]:
    if isinstance(node, SequenceNode):
        yield from node.value
    elif node is not None and not (isinstance(node, ScalarNode) and not node.value):
        errors.append(text_error(node, f"'{name}' is not a list of operators", "start every item with '- '"))
