"""The derivatives of copies of views: those of the view, unless the copy has its own definition.

torchgen: `load_derivatives.add_view_copy_derivatives`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gradmill.model.native import FunctionNames
from gradmill.model.nodes import Defined, NodeRow


def defined_copies(
    defined: Mapping[str, Defined],
    copy_of: Mapping[str, str],
    names: Mapping[str, FunctionNames],
    derived: Collection[str],
) -> list[Defined]:
    """The copies of views with derivatives that lack their own. `defined` are the functions with definitions, `copy_of`
    is the copy of each view by the view's name, `derived` are the definitions with a derivative to compute."""
    copies: dict[str, Defined] = {}
    for function, own in defined.items():
        copy = copy_of.get(names[function].name)
        if copy is not None and copy not in defined and own.definition in derived:
            first = copies[copy].first if copy in copies else own.first
            copies[copy] = Defined(copy, names[copy].name, own.definition, first, is_copy=True)
    return list(copies.values())


def node_row(defined: Defined, dispatch_key: str, node: str | None, operator: str) -> NodeRow:
    """The row of a function's info; `node` and `operator` are those of its definition."""
    if defined.is_copy:
        operator = f"{operator}_copy."  # upstream appends a dot and the overload, which is empty
        node = node and f"{node}_copy"
    return NodeRow(
        node=node,
        operator=operator,
        op=defined.op,
        dispatch_key=dispatch_key,
        function=defined.function,
        definition=defined.definition,
        is_copy=defined.is_copy,
    )
