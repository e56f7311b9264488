"""One case run twice: on a graph of our Node, and on torch's own. The forward computation is torch's in both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch_seed import seed_torch

from cpp.cases import Case
from cpp.node_kinds import Kind

_SEED = 11  # of operators that draw random numbers


class Graph(NamedTuple):
    """Results whose grad_fn is the Node to be looked at."""

    outputs: list[Tensor]

    @property
    def roots(self) -> list[Tensor]:
        return [tensor for tensor in self.outputs if tensor.requires_grad]

    @property
    def node(self) -> Any:
        return self.roots[0].grad_fn


class Pair(NamedTuple):
    """The same computation as graphs of both, on the same leaves."""

    leaves: list[Tensor]
    ours: Graph
    torchs: Graph


def pair(module: Any, kind: Kind, case: Case, *, seed: int = 0) -> Pair:
    """Runs the operator, and builds both graphs. `module` is the extension."""
    seed_torch(seed)
    values = _values(kind, case)
    for name in kind.inputs:
        if name not in case.fixed:
            values[name] = _map(values[name], _leaf)
    leaves = [tensor for name in kind.inputs for tensor in _flat(values[name]) if tensor.requires_grad]
    call = _operator(kind, case)
    return Pair(leaves, ours(module, kind, values, call), Graph(_flat(call(values))))


def ours(module: Any, kind: Kind, values: dict[str, Any], call: Callable[[dict[str, Any]], Any]) -> Graph:
    """Our graph: the results are computed without one, and then become those of our Node."""
    with torch.no_grad():
        started = module.start(kind.node, values, kind.inputs)
        result = call({name: _map(value, Tensor.detach) for name, value in values.items()})
        results = [result] if len(kind.returns) == 1 else list(result)
        results = [_map(one, lambda tensor: tensor.detach().clone()) for one in results]
    module.finish(started, dict(zip(kind.returns, results)), kind.outputs)
    return Graph(_flat(results))


def gradients(graph: Graph, leaves: Sequence[Tensor], *, second: bool) -> tuple[list[Tensor], list[Tensor]]:
    """The gradients of the leaves for random cotangents and, for `second`, theirs: of leaves and cotangents."""
    seed_torch(3)
    cotangents = [_normal_like(root).requires_grad_(second) for root in graph.roots]
    first = _grad(graph.roots, leaves, cotangents, create_graph=second)
    again = [tensor for tensor in first if tensor.requires_grad]
    if not again:
        return first, []
    seed_torch(7)
    return first, _grad(again, [*leaves, *cotangents], [_normal_like(tensor) for tensor in again])


def _grad(
    roots: Sequence[Tensor], leaves: Sequence[Tensor], cotangents: Sequence[Tensor], *, create_graph: bool = False
) -> list[Tensor]:
    gradients = torch.autograd.grad(roots, leaves, cotangents, create_graph=create_graph, allow_unused=True)
    return [torch.zeros_like(leaf) if tensor is None else tensor for tensor, leaf in zip(gradients, leaves)]


def _normal_like(tensor: Tensor) -> Tensor:
    """Random numbers that depend on the shape alone: strides and layout may differ between the graphs."""
    return torch.randn(tensor.shape, dtype=tensor.dtype)


def _values(kind: Kind, case: Case) -> dict[str, Any]:
    """Every argument of the operator by its name."""
    arguments = _schema(kind, case).arguments
    values = {a.name: a.default_value for a in arguments if a.has_default_value()}
    values.update(zip((a.name for a in arguments if not a.kwarg_only), case.arguments()))
    return {**values, **case.named}


def _operator(kind: Kind, case: Case) -> Callable[[dict[str, Any]], Any]:
    """The operator as a function of its arguments by name; what it would change in place is copied first."""
    arguments = _schema(kind, case).arguments
    function = case.ref or _aten(kind)
    by_name = {a.name for a in arguments if a.kwarg_only}
    changed = {a.name for a in arguments if a.alias_info is not None and a.alias_info.is_write}
    changed |= {"running_mean", "running_var"}

    def call(values: dict[str, Any]) -> Any:
        passed = {n: v.clone() if n in changed and isinstance(v, Tensor) else v for n, v in values.items()}
        seed_torch(_SEED)
        return function(
            *(passed[a.name] for a in arguments if a.name not in by_name and a.name in passed),
            **{name: passed[name] for name in by_name if name in passed},
        )

    return call


def _schema(kind: Kind, case: Case) -> Any:
    """torch's own schema: its ATen operator takes arguments of its own order."""
    return kind.schema if case.ref is not None or _aten(kind) is None else _aten(kind)._schema


def _aten(kind: Kind) -> Any:
    name, _, overload = kind.operator.partition(".")
    return getattr(getattr(torch.ops.aten, name, None), overload or "default", None)


def _leaf(tensor: Tensor) -> Tensor:
    return tensor.detach().requires_grad_(tensor.is_floating_point() or tensor.is_complex())


def _map(value: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """`function` of a tensor, or of each tensor of a list."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, list | tuple):
        return [_map(one, function) for one in value]
    return value


def _flat(value: Any) -> list[Tensor]:
    """The tensors in a value."""
    if isinstance(value, Tensor):
        return [value]
    return [tensor for one in value for tensor in _flat(one)] if isinstance(value, Iterable) else []
