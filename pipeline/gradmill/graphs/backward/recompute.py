"""A memory budget: which saved values the backward computes again, so that less is held between forward and backward.

The budget is a fraction of the bytes, as AOTAutograd's (torch/_functorch/partitioners.py, choose_saved_values_set). Of
all ways to keep to it, a graph takes the one with the least time for what is computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gradmill.graphs.backward.again import may_be_called_again, operands
from gradmill.graphs.backward.budget import Budget
from gradmill.graphs.backward.program import Block, CallBlock, Remade, Tensor
from gradmill.graphs.backward.saved import Saver
from gradmill.graphs.backward.sizes import Sizes
from gradmill.graphs.functional.program import Apply, Functional, tensors_of
from gradmill.graphs.model import Item, Ref
from gradmill.graphs.operator import Operator


def recompute(
    program: Functional, operators: Mapping[str, Operator], blocks: Iterable[Block], saver: Saver, memory: float
) -> None:
    """Saves, in place of values that are computed again, what they are computed from."""
    recorded = [block.step for block in blocks if isinstance(block, CallBlock) and block.record]
    kept = [each.name for step in recorded for value in operands(step, "") for each in tensors_of(value)]
    kept += [result.name for step in recorded for result in step.results]
    makers = _makers(program, operators, {result.name for step in recorded for result in step.results})
    needed = (_name(each) for each in saver.tensors.values() if each.needs)
    again = Budget(makers, operators, saver, Sizes(program, operators), kept, needed).chosen(memory)
    left = [(_name(each), frozenset(each.needs)) for each in saver.tensors.values() if _name(each) in again]
    saver.tensors = {label: each for label, each in saver.tensors.items() if _name(each) not in again}
    while left:
        name, needs = left.pop()
        before = frozenset(saver.remade[name].needs) if name in saver.remade else frozenset[int]()
        if name in saver.remade and needs <= before:
            continue
        step = makers[name]
        saver.remade[name] = Remade(step, tuple(sorted(needs | before)))
        for each in operands(step, operators[step.identity].name):
            if isinstance(each, (Ref, Item)) and each.name in again:
                left.append((each.name, needs | before))
            else:
                saver.save(each, needs | before)


def _name(tensor: Tensor) -> str:
    """The name of a saved value; of an item of a list, that of the list."""
    assert isinstance(tensor.value, (Ref, Item))
    return tensor.value.name


def _makers(program: Functional, operators: Mapping[str, Operator], recorded: set[str]) -> dict[str, Apply]:
    """The calls that may be recomputed, by their first results."""
    lists = {program.names[each.name] for each in program.function.inputs if each.type.endswith("]")}
    makers = {}
    for step in program.steps:
        if not isinstance(step, Apply) or not step.results or step.identity in program.function.callees:
            continue
        name = step.results[0].name
        unwatched = any(isinstance(each, Ref) and each.name in lists for each in operands(step, ""))  # see Saver
        if name not in recorded and not unwatched and may_be_called_again(step, operators[step.identity]):
            makers[name] = step
    return makers
