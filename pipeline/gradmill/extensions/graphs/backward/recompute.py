"""A memory budget: which saved values the backward computes again, so that less is held between forward and backward.

The budget is a fraction of the bytes, as AOTAutograd's (torch/_functorch/partitioners.py, choose_saved_values_set). Of
all ways to keep to it, a graph takes the one with the least time for what is computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gradmill.extensions.graphs.backward.again import may_be_called_again, operands
from gradmill.extensions.graphs.backward.aliases import Aliases
from gradmill.extensions.graphs.backward.budget import Budget
from gradmill.extensions.graphs.backward.needs import NONE, Needs, Rows
from gradmill.extensions.graphs.backward.program import Block, CallBlock
from gradmill.extensions.graphs.backward.saved import Saved, saved
from gradmill.extensions.graphs.backward.sizes import Sizes
from gradmill.extensions.graphs.functional.program import Apply, Functional, tensors_of
from gradmill.extensions.graphs.model import Item, Ref, Value
from gradmill.extensions.graphs.operator import Operator


def recomputed(
    known: Saved,
    program: Functional,
    operators: Mapping[str, Operator],
    blocks: Iterable[Block],
    aliases: Aliases,
    rows: Rows,
    memory: float,
) -> Saved:
    """What is saved under a budget: in place of values that are computed again, what they are computed from."""
    recorded = [block.step for block in blocks if isinstance(block, CallBlock) and block.record]
    kept = [each.name for step in recorded for value in operands(step, "") for each in tensors_of(value)]
    kept += [result.name for step in recorded for result in step.results]
    makers = _makers(program, operators, {result.name for step in recorded for result in step.results})
    needed = [value.name for value, needs in known.values.values() if needs]
    again = Budget(makers, operators, aliases, Sizes(program, operators), kept, needed).chosen(memory)
    uses: list[tuple[Value, Needs]] = [each for each in known.values.values() if each[0].name not in again]
    remade = dict(known.remade)
    left = [(value.name, needs) for value, needs in known.values.values() if value.name in again]
    while left:
        name, needs = left.pop()
        before = remade[name][1] if name in remade else NONE
        joined = rows.either(needs, before)
        if name in remade and joined == before:
            continue
        remade[name] = (makers[name], joined)
        for each in operands(makers[name], operators[makers[name].identity].name):
            if isinstance(each, (Ref, Item)) and each.name in again:
                left.append((each.name, joined))
            else:
                uses.append((each, joined))
    values, more, numbers = saved(uses, aliases, rows)
    return Saved(values, {**remade, **more}, [*dict.fromkeys([*known.numbers, *numbers])])


def _makers(program: Functional, operators: Mapping[str, Operator], recorded: set[str]) -> dict[str, Apply]:
    """The calls that may be recomputed, by their first results."""
    lists = {program.names[each.name] for each in program.function.inputs if each.type.endswith("]")}
    makers = {}
    for step in program.steps:
        if not isinstance(step, Apply) or not step.results or step.identity in program.function.callees:
            continue
        name = step.results[0].name
        unwatched = any(isinstance(each, Ref) and each.name in lists for each in operands(step, ""))  # see Saved
        if name not in recorded and not unwatched and may_be_called_again(step, operators[step.identity]):
            makers[name] = step
    return makers
