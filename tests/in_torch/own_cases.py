"""Calls from the cases of `tests/cpp`: one at least for each Node of the core spec set, with all variants."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import torch
from cpp.cases import Case, cases
from torch import Tensor
from torch.utils import _pytree as pytree
from torch_seed import seed_torch

from in_torch.calls import Call, bound, changing, differentiable, left_out, writing
from in_torch.toy import LAYOUTS, moved

# Operators that torch does not have. A case has a function of torch's in their place.
OWN = ("cube", "scale")


class Cases(NamedTuple):
    """Which of them are made. `nodes` is a file: of each Node, what `gradmill show` says of it."""

    nodes: Path
    part: int
    parts: int
    device: str = "cpu"

    def operators(self) -> Iterator[tuple[str, Iterator[Call]]]:
        """Names of Nodes, with the calls of the operators that they are for."""
        rows: dict[str, Any] = json.loads(self.nodes.read_text())
        by_node: dict[str, list[Case]] = {}
        for case in cases():
            by_node.setdefault(case.node, []).append(case)
        for node, result in by_node.items():
            if zlib.crc32(node.encode()) % self.parts == self.part:
                calls = (_call(str(number), case, rows[node], self.device) for number, case in enumerate(result))
                yield f"case {node}", chain.from_iterable(calls)


def _call(name: str, case: Case, row: dict[str, Any], device: str) -> Iterator[Call]:
    """The operator of a case with its in-place and out variants and, of one that writes, its functional variant."""
    operator, _, overload = row["func"].partition("(")[0].partition(".")
    function = _aten(operator, overload)
    schema = torch._C.parse_schema(row["func"]) if function is None else function._schema
    seed_torch(zlib.crc32(case.node.encode()))
    values = moved(_arguments(case, schema), device)
    if values is None:
        yield left_out(name, LAYOUTS)
        return
    leaves = pytree.tree_leaves(values)
    wanted = {id(leaf) for leaf in _differentiated(case, row, schema, values)}
    places = [i for i, leaf in enumerate(leaves) if id(leaf) in wanted]
    call = Call(name, [leaves[place] for place in places], lambda: None, checked=True, first_only=case.first_only)
    if function is None or operator in OWN:
        yield call._replace(function=bound(function or case.ref, values, places))
        return
    if operator.endswith("_"):
        start = bound(changing(function), values, places)
        yield call._replace(function=partial(start, copy=True), inplace=start)
    else:
        inplace = bound(changing(result), values, places) if (result := _variant(f"{operator}_", schema)) else None
        out = bound(writing(result), values, places) if (result := _variant(operator, schema, out=True)) else None
        yield call._replace(function=bound(function, values, places), inplace=inplace, out=out)
    for other in (operator.removesuffix("_"), f"{operator.removesuffix('_')}_functional"):
        if other != operator and (result := _variant(other, schema)):
            out = bound(writing(more), values, places) if (more := _variant(other, schema, out=True)) else None
            yield call._replace(name=f"{name}, functional", function=bound(result, values, places), out=out)


def _aten(operator: str, overload: str) -> Any:
    return getattr(getattr(torch.ops.aten, operator, None), overload or "default", None)


def _variant(operator: str, schema: Any, *, out: bool = False) -> Any:
    """The overload of the same arguments, or of these and of some for the results."""
    wanted = sorted((argument.name, str(argument.type)) for argument in schema.arguments)
    packet = getattr(torch.ops.aten, operator, None)
    for overload in packet.overloads() if packet is not None else ():
        result = getattr(packet, overload)
        others = [(a.name, str(a.type)) for a in result._schema.arguments if not a.is_out]
        if sorted(others) == wanted and out == (len(others) < len(result._schema.arguments)):
            return result
    return None


def _arguments(case: Case, schema: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The first argument, the others, and those that go by name only."""
    by_name = {argument.name for argument in schema.arguments if argument.kwarg_only}
    first, *others = case.arguments()
    positional = [argument.name for argument in schema.arguments if not argument.kwarg_only]
    named = dict(case.named)
    others += [named.pop(name) for name in positional[1 + len(others) :] if name in named]
    assert set(named) <= by_name, (case.node, named)
    return first, tuple(others), named


def _differentiated(case: Case, row: dict[str, Any], schema: Any, arguments: Any) -> list[Tensor]:
    """The tensors that torch takes a gradient of."""
    first, others, named = arguments
    values = dict(zip((argument.name for argument in schema.arguments), (first, *others))) | named
    names = [name for name in row["args_with_derivatives"] if name not in case.fixed]
    leaves = [leaf for name in names for leaf in pytree.tree_leaves(values.get(name))]
    return [leaf for leaf in leaves if isinstance(leaf, Tensor) and differentiable(leaf)]
