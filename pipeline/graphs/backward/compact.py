"""Which saved views are copied: a part of a larger tensor that nothing else keeps, so that the tensor can be freed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from pipeline.graphs.backward.program import Block, CallBlock, Tensor
from pipeline.graphs.functional.program import Apply, Choose, Functional, Scatter, names_in
from pipeline.graphs.model import Ref, Value


def compacted(program: Functional, blocks: Iterable[Block], tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """The saved tensors, with those as `part` that are copied if they are at most half of the memory that they keep."""
    memory = _memory(program)
    views = {r.name for s in program.steps if isinstance(s, Apply) and (s.view or s.shares) for r in s.results}
    kept = Counter(
        base
        for values in (*_recorded(blocks), *((tensor.value,) for tensor in tensors))
        for base in _bases(memory, values)
    )

    def alone(tensor: Tensor) -> bool:
        value = tensor.value
        is_view = tensor.how == "plain" and isinstance(value, Ref) and value.name in views
        return is_view and all(kept[base] == 1 for base in _bases(memory, (value,)))

    return tuple(replace(tensor, how="part") if alone(tensor) else tensor for tensor in tensors)


def _memory(program: Functional) -> dict[str, frozenset[str]]:
    """The values whose memory each value may be in. One that is not listed has its own."""
    memory: dict[str, frozenset[str]] = {}
    for step in program.steps:
        if isinstance(step, Apply) and (step.view or step.shares):
            shared = _bases(memory, step.arguments.values() if step.view else step.shares)
            memory |= {result.name: shared for result in step.results}
        elif isinstance(step, Scatter):
            memory[step.result] = _bases(memory, (step.base,)) | {step.result}
        elif isinstance(step, Choose):
            memory[step.result] = _bases(memory, (step.then, step.otherwise))
    return memory


def _bases(memory: dict[str, frozenset[str]], values: Iterable[Value]) -> frozenset[str]:
    found = (memory.get(name, frozenset([name])) for name in names_in(tuple(values)))
    return frozenset[str]().union(*found)


def _recorded(blocks: Iterable[Block]) -> list[tuple[Value, ...]]:
    """The arguments of the calls that the library's autograd records: what it saves of them is not known."""
    return [tuple(b.step.arguments.values()) for b in blocks if isinstance(b, CallBlock) and b.record]
