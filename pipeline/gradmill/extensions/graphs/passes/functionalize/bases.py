"""Synthetic bases for inputs that may share memory and one of which is written to.

A function has a variant for each combination of inputs that share memory at run time. In a variant, a base replaces
these inputs, and each of them is a strided view of the base, so that a write to one is visible in all. The wrapper
chooses the variant at run time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, combinations, product

from msgspec.structs import replace

from gradmill.extensions.graphs.model import Call, Function, GraphError, Input, Ref, Result, Value
from gradmill.extensions.graphs.operator import Operator
from gradmill.extensions.graphs.traits import AS_STRIDED, unqualified

_MOST = 32  # variants

Shared = tuple[tuple[str, ...], ...]  # disjoint sets; the inputs of a set share memory


def sharings(function: Function, written: Iterable[str]) -> list[Shared]:
    """The combinations of inputs that may share memory with a `written` one; the largest first.

    Raises a GraphError if there are more than 32.
    """
    options = [[(), *_subsets(group, set(written))] for group in function.may_alias]
    ways = [tuple(filter(None, choice)) for choice in product(*options)]
    if len(ways) > _MOST:
        raise GraphError(
            function.place,
            f"the inputs of '{function.name}' may share memory in more than {_MOST} ways",
            "declare fewer that may alias one another",
        )
    return sorted(filter(None, ways), key=lambda sets: -sum(map(len, sets)))


def _subsets(group: tuple[str, ...], written: set[str]) -> list[tuple[str, ...]]:
    every = chain.from_iterable(combinations(group, size) for size in range(2, len(group) + 1))
    return [subset for subset in every if written & set(subset)]


def with_bases(function: Function, shared: Shared, number: int, operators: Mapping[str, Operator]) -> Function:
    """The variant of a function in which a base replaces each set of inputs. `number` makes its name unique."""
    if unqualified(AS_STRIDED) not in operators:
        raise GraphError(function.place, "the spec set has no as_strided, which inputs that share memory need")
    inputs, calls = [], []
    members = {name for names in shared for name in names}
    for i, names in enumerate(shared):
        inputs.append(Input(f"base_{i}", "Tensor", function.place))
        for name in names:
            inputs += [Input(f"{name}_{part}", type_, function.place) for part, type_ in _PARTS]
            calls.append(_view(function, f"base_{i}", name))
    inputs += [each for each in function.inputs if each.name not in members]
    return replace(
        function,
        name=f"{function.name}_shared_{number}",
        inputs=tuple(inputs),
        calls=(*calls, *function.calls),
        may_alias=(),
    )


_PARTS = (("size", "int[]"), ("stride", "int[]"), ("offset", "int"))


def _view(function: Function, base: str, name: str) -> Call:
    arguments: dict[str, Value] = {
        "self": Ref(base),
        "size": Ref(f"{name}_size"),
        "stride": Ref(f"{name}_stride"),
        "storage_offset": Ref(f"{name}_offset"),
    }
    return Call(AS_STRIDED, unqualified(AS_STRIDED), arguments, (Result(name, "Tensor"),), function.place)
