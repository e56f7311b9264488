"""Plans of graphs as short strings, for tests of the steps before C++."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphs.reading import Reading, value
from pipeline.graphs.backward.program import Backward, CallBlock, ChooseBlock, ScatterBlock
from pipeline.graphs.functional.program import (
    Apply,
    Choose,
    Functional,
    Link,
    Number,
    OutputValue,
    Scatter,
    Shared,
    Shown,
    Step,
)
from pipeline.graphs.model import Item, Ref, Value
from pipeline.graphs.plan import GraphPlan
from pipeline.stages import graph_text

HEAD = "from typing import Annotated\n\nimport torch\nfrom torch import Tensor\n\n\n"


class Planner:
    """Plans functions with the operators of a set; all share one cache."""

    def __init__(self, folder: Path, specs: str = "core") -> None:
        self._folder, self._specs, self._count = folder, specs, 0

    def __call__(self, function: Callable[..., Any]) -> GraphPlan:
        """The plan of a function that a test defines."""
        self._count += 1
        path = self._folder / f"test_{self._count}.py"
        path.write_text(HEAD + textwrap.dedent(inspect.getsource(function)))
        reading = Reading(path, self._folder / "cache", self._specs)
        plan = graph_text.plan(reading.build.db, path.name, function.__name__)
        assert plan is not None, reading.report
        reading.build.commit()
        reading.build.close()
        return plan


# ---- the functionalized function


def steps(program: Functional) -> list[str]:
    """The steps of the forward."""
    return [_step(step) for step in program.steps]


def _step(step: Step) -> str:
    if isinstance(step, Apply):
        results = ", ".join(r.name for r in step.results) or ", ".join(name for _, name in step.clones)
        mark = " as a view" if step.view else "" if step.grad else " without grad"
        return f"{results} = {_called(step.identity, step.arguments)}{mark}"
    if isinstance(step, Number):
        return f"{step.result.name} = {step.op.partition('::')[2]}({', '.join(map(value, step.arguments.values()))})"
    if isinstance(step, Scatter):
        return f"{step.result} = {value(step.base)} with {value(step.value)} at {chain(step.chain)}"
    if isinstance(step, Choose):
        return f"{step.result} = {value(step.then)} if {' and '.join(step.flags)} else {value(step.otherwise)}"
    return f"refuse {', '.join(map(value, step.values))}: {step.message}"


def _called(identity: str, arguments: dict[str, Value]) -> str:
    shown = [argument for argument in arguments.values() if isinstance(argument, (Ref, Item))]
    return f"{identity.partition('(')[0]}({', '.join(map(value, shown))})"


def chain(links: tuple[Link, ...]) -> str:
    """The chain of views from a base."""
    return ".".join(f"[{link.item}]" if link.item is not None else link.identity.partition("(")[0] for link in links)


def updates(program: Functional) -> list[str]:
    """The values that are copied back into inputs."""
    return [
        f"{each.input}.copy_({value(each.value)}){'' if each.grad else ' without grad'}" for each in program.updates
    ]


def metadata(program: Functional) -> list[str]:
    """The in-place views of inputs, which the wrapper runs."""
    return [f"{name}.{link.identity.partition('(')[0]}" for name, link in program.metadata]


def outputs(program: Functional) -> list[str]:
    """The outputs that the caller gets."""
    return [_output(output) for output in program.outputs]


def _output(output: OutputValue) -> str:
    if isinstance(output, Shared):
        return f"[{', '.join(map(_output, output.items))}]"
    if not isinstance(output, Shown):
        return value(output)
    of = f"input {value(output.base)}" if output.is_input else value(output.base)
    return f"{chain(output.chain)} of {of}" if output.chain else of


# ---- the backward


def blocks(backward: Backward) -> list[str]:
    """The blocks of the backward: each call, and the values that its gradients go to."""
    lines = []
    for block in backward.blocks:
        if isinstance(block, CallBlock):
            targets = [value(t.value) for a in block.arguments for t in a.targets if t.needs]
            lines.append(f"{block.style} {block.step.identity.partition('(')[0]} → {', '.join(targets)}")
        elif isinstance(block, ScatterBlock):
            lines.append(f"scatter {block.step.result} → {value(block.value.value)}, {value(block.base.value)}")
        elif isinstance(block, ChooseBlock):
            lines.append(f"choose {block.step.result} → {value(block.then.value)}, {value(block.otherwise.value)}")
    return lines


def saved(backward: Backward) -> dict[str, str]:
    """The saved tensors, and how each is saved."""
    return {tensor.name: tensor.how for tensor in backward.tensors} | {each.name: "remade" for each in backward.remade}
