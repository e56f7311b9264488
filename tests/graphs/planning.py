"""Plans of graphs, for tests of what no value shows."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gradmill.extensions.graphs.passes.gradients import Backward, CallBlock
from gradmill.extensions.graphs.plan import GraphPlan
from gradmill.extensions.graphs.queries import planned
from graphs.reading import Reading, value

HEAD = "from typing import Annotated\n\nimport torch\nfrom torch import Tensor\n\n\n"


class Planner:
    """Plans functions with the operators of the core set; all share one cache."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._count = folder, 0

    def __call__(self, function: Callable[..., Any]) -> GraphPlan:
        """The plan of a function that a test defines."""
        self._count += 1
        path = self._folder / f"test_{self._count}.py"
        path.write_text(HEAD + textwrap.dedent(inspect.getsource(function)))
        reading = Reading(path, self._folder / "cache")
        plan = planned.plan(reading.build.db, path.name, function.__name__)
        assert plan is not None, reading.report
        reading.build.save()
        reading.build.close()
        return plan


def blocks(backward: Backward) -> list[str]:
    """The gradients of calls, in the order of the backward: how each is computed, and the values that it goes to."""
    lines = []
    for block in backward.blocks:
        if isinstance(block, CallBlock):
            targets = [value(t.value) for a in block.arguments for t in a.targets if t.needs]
            lines.append(f"{block.style} {block.step.identity.partition('(')[0]} → {', '.join(targets)}")
    return lines


def saved(backward: Backward) -> dict[str, str]:
    """The saved tensors, and how each is saved."""
    return {tensor.name: tensor.how for tensor in backward.tensors} | {each.name: "remade" for each in backward.remade}
