"""What pages and anchors are called. Names depend on what a thing is, never on where it stands in a file."""

from __future__ import annotations

import re

from pipeline.model.layers import LAYER_MARK, entry_operator
from pipeline.model.native import FunctionHead
from pipeline.reports.page.model import Ref
from pipeline.rules.native.heads import within

_UNSAFE = re.compile(r"[^\w.-]+")
_NUMBER = re.compile(r"#\d+$")


def page_of(head: FunctionHead) -> str:
    """The page of a function: that of its operator, whatever the overload and the variant."""
    base = f"__{head.base}__" if head.unqualified.startswith("__") else head.base
    return safe(within(head.namespace, base).replace("::", "."))


def title_of(head: FunctionHead) -> str:
    """The function with its overload, and with its namespace where that is not PyTorch's."""
    return within(head.namespace, head.name)


def ref_to(head: FunctionHead) -> Ref:
    """The place of a function."""
    return Ref(page_of(head), safe(title_of(head)), title_of(head))


def node_anchor(node: str, function: str, dispatch_key: str) -> str:
    """The anchor of the derivatives of a function: its Node's name, which several functions may share."""
    return safe(node or f"{function}-{dispatch_key}")


def entry_anchor(entry: str) -> str:
    """The anchor of an entry on the page of its file: the operator, its layer, and its number among equal ones."""
    layer = entry.rpartition(LAYER_MARK)[2] if LAYER_MARK in entry else ""
    number = _NUMBER.search(entry)
    return safe("-".join(filter(None, (entry_operator(entry), layer or (number.group() if number else "")))))


def source_page(file: str) -> str:
    """The page of a spec file."""
    return safe(file)


def safe(name: str) -> str:
    """A name as a part of a path or of an address."""
    return _UNSAFE.sub("-", name).strip("-") or "_"
