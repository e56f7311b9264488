"""The names of pages and anchors. They depend on the object, never on its position in a file, so links stay valid."""

from __future__ import annotations

import re

from gradmill.extensions.browse.page.model import Ref
from gradmill.families.table import FAMILIES
from gradmill.model.layers import LAYER_MARK, entry_operator
from gradmill.model.native import FunctionSummary
from gradmill.rules.native.heads import within

_UNSAFE = re.compile(r"[^\w.-]+")
_NUMBER = re.compile(r"#\d+$")


def page_of(head: FunctionSummary) -> str:
    """The page of a function: that of its operator, for all overloads and variants."""
    base = f"__{head.base}__" if head.unqualified.startswith("__") else head.base
    return safe(within(head.namespace, base).replace("::", "."))


def title_of(head: FunctionSummary) -> str:
    """The function's name with its overload, and with its namespace unless that is PyTorch's."""
    return within(head.namespace, head.name)


def ref_to(head: FunctionSummary) -> Ref:
    """The link to a function."""
    return Ref(page_of(head), safe(title_of(head)), title_of(head))


def node_anchor(node: str, function: str, dispatch_key: str) -> str:
    """The anchor of a function's derivatives: its Node's name, which several functions may share."""
    return safe(node or f"{function}-{dispatch_key}")


def unit_anchor(family: str, unit: str, function: str) -> str:
    """The anchor of a unit that is not a Node: Python names have their own, others that of their function."""
    return safe(f"{family}-{unit if FAMILIES[family].unit == 'binding' else function}")


def entry_anchor(entry: str) -> str:
    """The anchor of an entry on its file's page: the operator, its layer, and its number among duplicates."""
    layer = entry.rpartition(LAYER_MARK)[2] if LAYER_MARK in entry else ""
    number = _NUMBER.search(entry)
    return safe("-".join(filter(None, (entry_operator(entry), layer or (number.group() if number else "")))))


def operator_page_of(page: str) -> str:
    """The file of an operator's page, without its ending."""
    return f"op/{page}"


def helper_page(name: str) -> str:
    """The file of a helper's page, without its ending."""
    return f"helper/{safe(name)}"


def source_page(file: str) -> str:
    """The page of a spec file."""
    return safe(file)


def safe(name: str) -> str:
    """The name with characters replaced that are unsafe in paths and URLs."""
    return _UNSAFE.sub("-", name).strip("-") or "_"
