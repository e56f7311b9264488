"""Reads a file of selected operators: `selected_operators.yaml`, or the older list of names.

Upstream: torchgen.selective_build.selector, and `get_selector` of PyTorch's tools/setup_helpers/generate_code.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from gradmill.model.operators import OVERLOADS, ListedOperator
from gradmill.problems.problem import TextError, all_of, nearest
from gradmill.specs.values import PlainValues, load_node, text_error


class _Form(NamedTuple):
    """The form of a value."""

    title: str
    fits: Callable[[object], bool]


def _is_list_of_names(value: object) -> bool:
    """Upstream makes a set of the items."""
    return isinstance(value, (str, dict)) or (
        isinstance(value, list) and not any(isinstance(item, (list, dict)) for item in value)
    )


def _is_mapping_of_lists(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, (list, dict, str)) for item in value.values())


_FLAG = _Form("true or false", lambda value: isinstance(value, bool))
_LIST = _Form("a list", lambda value: isinstance(value, list))
_MAPPING = _Form("a mapping", lambda value: isinstance(value, dict))
_NAMES = _Form("a list of names", _is_list_of_names)

_FILE = {
    "include_all_operators": _FLAG,
    "include_all_non_op_selectives": _FLAG,
    "operators": _MAPPING,
    "debug_info": _LIST,
    "kernel_metadata": _Form("a mapping of lists", _is_mapping_of_lists),
    "et_kernel_metadata": _MAPPING,
    "custom_classes": _NAMES,
    "build_features": _NAMES,
}
_OPERATOR = {
    "name": _Form("the name of the operator", lambda value: True),
    "is_root_operator": _FLAG,
    "is_used_for_training": _FLAG,
    "include_all_overloads": _FLAG,
    "debug_info": _LIST,
}


def read_operators(text: str) -> list[ListedOperator] | None:
    """The operators that a file lists; None if the file selects all. Raises a TextError for the errors in the file."""
    root = load_node(text)
    if root is None:
        raise TextError("the file is empty", "write 'operators: {}' to select no operator", 1, 1)
    value = PlainValues(text, "tags").of(root)  # refuses what no spec file may contain
    errors: list[TextError] = []
    listed: list[ListedOperator] | None
    if isinstance(root, SequenceNode) and isinstance(value, list):
        listed = [_named(node, name, errors) for node, name in zip(root.value, value)]
    elif isinstance(root, MappingNode) and isinstance(value, dict):
        _check(root, value, _FILE, errors)
        at = next((node for key, node in root.value if key.value == "operators"), None)
        pairs = at.value if isinstance(at, MappingNode) else ()
        listed = [_described(key, node, value["operators"][key.value], errors) for key, node in pairs]
        listed = None if value.get("include_all_operators") is True else listed
    else:
        raise text_error(root, "the file is neither a mapping nor a list of names", "write operators: {aten::add: {}}")
    if errors:
        raise all_of([*errors])
    return listed


def _named(node: Node, name: object, errors: list[TextError]) -> ListedOperator:
    """An item of a list of names. Upstream drops the overload."""
    if not isinstance(name, str):
        errors.append(text_error(node, f"{name!r} is not the name of an operator", "write '- aten::add'"))
    return _listed(node, str(name), str(name).partition(".")[0] + OVERLOADS, trained=True)


def _described(key: Node, node: Node, value: object, errors: list[TextError]) -> ListedOperator:
    """An operator of the mapping `operators`."""
    name = str(key.value)
    if not isinstance(node, MappingNode) or not isinstance(value, dict):
        errors.append(text_error(key, f"'{name}' needs a mapping", f"write '{name}: {{}}', or add keys below it"))
        return _listed(key, name, name, trained=True)
    _check(node, value, _OPERATOR, errors)
    if value.get("name", name) != name:
        hint = f"write name: {name}, or leave the key out"
        errors.append(text_error(key, f"'{name}' has another name, '{value['name']}'", hint))
    overloads = value.get("include_all_overloads", True) and "." not in name
    trained = value.get("is_used_for_training", True) is True
    return _listed(key, name, name + OVERLOADS if overloads else name, trained=trained)


def _listed(node: Node, name: str, pattern: str, *, trained: bool) -> ListedOperator:
    quoted = isinstance(node, ScalarNode) and node.style in ("'", '"')
    return ListedOperator(name, pattern, trained, node.start_mark.line + 1, node.start_mark.column + quoted + 1)


def _check(node: MappingNode, value: Mapping[str, object], forms: Mapping[str, _Form], errors: list[TextError]) -> None:
    """Adds an error for each unknown key of a mapping, and each value of a wrong form."""
    for key, value_node in node.value:
        form = forms.get(key.value)
        if form is None:
            hint = nearest(key.value, forms) or f"keys: {', '.join(forms)}"
            errors.append(text_error(key, f"unknown key '{key.value}'", hint))
        elif not form.fits(value[key.value]):
            errors.append(text_error(value_node, f"{key.value} is not {form.title}", f"write {form.title}"))
