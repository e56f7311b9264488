"""What a program leaves behind, in a form that can be compared: values, graph, gradients, errors."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import grad

from views.graphs import name
from views.operators import Ops
from views.programs import ERRORS, Ask, Hooked, Program, Variables, execute

_NAMESPACE = re.compile(r"\b(torch::autograd|gradmill::core)::")

Outcome = dict[str, Any]


class Difference(NamedTuple):
    """A place where two outcomes are not the same."""

    place: str
    found: Any
    wanted: Any


def outcome(program: Program, ops: Ops) -> Outcome:
    """Runs a program, and asks for everything that can be asked."""
    hooked = Hooked([])
    variables: Variables = []
    result: Outcome = {}
    with torch.autograd._force_original_view_tracking(program.replay), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a complex number that becomes a real one
        for number, step in enumerate(program.steps):
            made = _attempt(execute, step, variables, ops, hooked)
            result[f"step {number}"] = made if isinstance(made, str) else len(made)
            variables.extend([] if isinstance(made, str) else made)
    result |= _state(variables)
    for number, ask in enumerate(program.asks):
        result[f"ask {number}"] = _attempt(_answer, ask, variables)
    result["backward"] = _attempt(_backward, variables)
    result["backward again"] = _attempt(_backward, variables)
    result["grads"] = [x.grad if _is_leaf(x) or x.retains_grad else None for x in variables if isinstance(x, Tensor)]
    result["hooks"] = hooked.seen
    return result


def _attempt(run: Callable[..., Any], *values: Any) -> Any:
    """The result, or the error as text."""
    try:
        return run(*values)
    except ERRORS as error:
        return f"{type(error).__name__}: {_NAMESPACE.sub('', str(error))}"


def _state(variables: Variables) -> Outcome:
    storages: dict[int, int] = {}
    nodes: dict[Any, int] = {}
    graph: list[Any] = []
    result: Outcome = {}
    tensors = [(number, x) for number, x in enumerate(variables) if isinstance(x, Tensor)]
    for number, x in tensors:
        storage = storages.setdefault(x.untyped_storage().data_ptr(), len(storages))
        result[f"values {number}"] = x.detach().clone()
        result[f"memory {number}"] = (storage, x.storage_offset(), tuple(x.shape), x.stride(), x.dtype)
        result[f"version {number}"] = x._version
        result[f"base {number}"] = next((n for n, b in tensors if b is x._base), x._base is not None)
        node = _attempt(getattr, x, "grad_fn")
        result[f"node {number}"] = node if isinstance(node, str) else _draw(node, nodes, graph)
        result[f"flags {number}"] = _attempt(lambda x: (x.requires_grad, x.is_leaf, x.output_nr, x.retains_grad), x)
    result["graph"] = graph
    return result


def _draw(node: Any, nodes: dict[Any, int], graph: list[Any]) -> int:
    """A Node's number; it and what it leads to are added to the graph. Without recursion, as graphs may be long."""
    todo = [node] if node is not None else []
    while todo:
        one = todo.pop()
        if one not in nodes:
            nodes[one] = len(nodes)
            graph.append(None)
            todo += [following for following, _ in one.next_functions if following is not None]
    for one, number in nodes.items():
        if graph[number] is None:
            graph[number] = (name(one), [(nodes.get(following, -1), nr) for following, nr in one.next_functions])
    return nodes.get(node, -1)


def _seeds(outputs: list[Tensor]) -> list[Tensor]:
    return [torch.linspace(0.5, 1.5, x.numel(), dtype=x.dtype).view(x.shape) for x in outputs]


def _answer(ask: Ask, variables: Variables) -> list[Tensor | None]:
    outputs = [variables[number] for number in ask.outputs if variables[number].requires_grad]
    values = [variables[number] for number in ask.inputs]
    inputs = [x for x in values if not isinstance(x, Tensor) or x.requires_grad]
    if not outputs or not inputs:
        return []
    seeds = [seed.requires_grad_(ask.twice) for seed in _seeds(outputs)]
    first = list(grad(outputs, inputs, seeds, retain_graph=True, create_graph=ask.twice, allow_unused=True))
    again = [x for x in first if x is not None and x.requires_grad]
    if not ask.twice or not again:
        return first
    squares = [(x.abs() ** 2).sum() for x in again]
    return [*first, *grad(squares, [*inputs, *seeds], retain_graph=True, allow_unused=True)]


def _is_leaf(x: Tensor) -> bool:
    """Whether no Node made it. One that is refused a Node is no leaf."""
    return _attempt(getattr, x, "grad_fn") is None


def _has_node(x: Tensor) -> bool:
    return not _is_leaf(x) and not isinstance(_attempt(getattr, x, "grad_fn"), str)


def _backward(variables: Variables) -> None:
    outputs = [x for x in variables if isinstance(x, Tensor) and _has_node(x)]
    if outputs:
        torch.autograd.backward(outputs, _seeds(outputs))


def differences(result: Outcome, wanted: Outcome) -> list[Difference]:
    """All places where two outcomes differ."""
    keys = [*wanted, *(key for key in result if key not in wanted)]
    return [Difference(k, result.get(k), wanted.get(k)) for k in keys if not _same(result.get(k), wanted.get(k))]


def _same(result: Any, wanted: Any) -> bool:
    if isinstance(result, Tensor) and isinstance(wanted, Tensor):
        return (result.shape, result.dtype) == (wanted.shape, wanted.dtype) and torch.allclose(
            result, wanted, rtol=1e-9 if result.dtype in (torch.float64, torch.complex128) else 1e-5, equal_nan=True
        )
    if isinstance(result, list | tuple) and isinstance(wanted, list | tuple):
        return len(result) == len(wanted) and all(map(_same, result, wanted))
    return type(result) is type(wanted) and bool(result == wanted)
