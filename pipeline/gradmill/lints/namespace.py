"""Definitions of a layer that are for PyTorch's function, as they name no namespace."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from gradmill.model.layers import layer_of
from gradmill.model.native import FunctionSummary
from gradmill.problems.problem import SpecError


def of_other_namespace(
    titled: tuple[str, str, str],
    function: str,
    listed: Iterable[tuple[str, FunctionSummary]],
    defined: Collection[str],
) -> SpecError | None:
    """The warning about a definition, by its entry, schema and name, that is for a function of another layer, where its
    own has one with the same schema, for which there is no definition; None for any other."""
    entry, schema, name = titled
    same = {each: head for each, head in listed if head.schema == schema}
    own = [head for each, head in same.items() if layer_of(each) == layer_of(entry) and each not in defined]
    theirs = same.get(function)
    if theirs is None or not own or own[0].namespace == theirs.namespace:  # an operator that is declared twice
        return None
    problem = f"this is {theirs.namespace}::{name}; {own[0].namespace}::{name}, of the same layer, has no derivative"
    return SpecError(problem, f"write {own[0].namespace}::{schema}", field=("name",), rule="other-namespace")
