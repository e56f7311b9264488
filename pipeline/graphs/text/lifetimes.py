"""Frees values early: each one after the last step of the forward, or block of the backward, that uses it, as in eager.

Values of the forward, gradients and recomputed views are variables. A saved value is freed only in the last backward:
with `retain_graph=True` there may be another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pipeline.graphs.backward.program import CallBlock, ScatterBlock
from pipeline.graphs.model import Ref, Value
from pipeline.graphs.plan import GraphPlan
from pipeline.graphs.text.saved import gradient

_NAME = re.compile(r"(?<![\w.:])(?:saved\.)?[^\W\d]\w*")
_NO_CODE = re.compile(r'"(?:[^"\\]|\\.)*"|//.*')  # strings and comments


def forward_with_drops(steps: list[list[str]], values: Iterable[str]) -> list[str]:
    """The statements of all steps; each is followed by one that frees those of `values` that no later step uses."""
    lines: list[str] = []
    for step, names in zip(steps, _after(steps, set(values))):
        lines += step
        lines += [f"graph::drop({', '.join(names)});"] if names else []
    return lines


def backward_with_drops(plan: GraphPlan, blocks: list[list[str]], gradients: Iterable[str]) -> list[str]:
    """The statements of all blocks; each is followed by those that free what no later block uses.

    `gradients`: the variables with gradients. Those of inputs are the result, and are kept. A block that calls a
    formula frees its own, and so does one that undoes a write into a view.
    """
    kept = {f"grad_of_{place.name}" for place in plan.tensors} | _taken(plan)
    variables = [name for name in gradients if name not in kept] + [each.name for each in plan.backward.remade]
    dropped = _after(blocks, {*variables, *_saved(plan)})
    lines: list[str] = []
    for block, names in zip(blocks, dropped):
        lines += block
        own = [name for name in names if not name.startswith("saved.")]
        saved = [name for name in names if name.startswith("saved.")]
        lines += [f"graph::drop({', '.join(own)});"] if own else []
        lines += [f"if (saved.last) {{ graph::drop({', '.join(saved)}); }}"] if saved else []
    return lines


def _taken(plan: GraphPlan) -> set[str]:
    values: list[Value] = []
    for block in plan.backward.blocks:
        if isinstance(block, CallBlock) and block.style == "own":
            values += [value for value, _ in block.grads]
        elif isinstance(block, ScatterBlock) and not block.step.flags:
            values.append(Ref(block.step.result))
    return set(map(gradient, values))


def _saved(plan: GraphPlan) -> list[str]:
    """The saved values that hold memory."""
    tensors = [each.name for each in plan.backward.tensors if each.how not in ("input", "output")]
    records = [each.name for each in plan.backward.marks if each.kind == "record"]
    return [f"saved.{name}" for name in (*tensors, *records)]


def with_first_uses(blocks: list[list[str]], statements: Mapping[str, str]) -> list[list[str]]:
    """The blocks, with each statement as one of its own before the first that uses its value. A statement may use the
    values of earlier ones."""
    first = {name: i for i, block in reversed([*enumerate(blocks)]) for name in _names(block)}
    before: list[list[str]] = [[] for _ in blocks]
    for value, statement in reversed([*statements.items()]):
        at = first.get(value)
        if at is not None:
            before[at].insert(0, statement)
            first |= {name: min(at, first.get(name, at)) for name in _names([statement])}
    return [each for own, block in zip(before, blocks) for each in (*([line] for line in own), block)]


def _names(block: list[str]) -> dict[str, None]:
    return dict.fromkeys(_NAME.findall(_NO_CODE.sub("", "\n".join(block))))


def _after(blocks: list[list[str]], wanted: set[str]) -> list[list[str]]:
    """The names among `wanted` that each block is the last to use."""
    seen: set[str] = set()
    dropped: list[list[str]] = []
    for block in reversed(blocks):
        used = _names(block)
        dropped.append([name for name in used if name in wanted and name not in seen])
        seen |= used.keys()
    return dropped[::-1]
