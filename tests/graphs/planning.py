"""Plans of graphs, for tests of what no value shows."""

from __future__ import annotations

from gradmill.extensions.graphs.passes.gradients import Backward, CallBlock
from graphs.reading import value


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
