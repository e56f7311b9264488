"""Which saved views are copied: a part of a larger tensor that nothing else keeps, so that the tensor can be freed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from gradmill.extensions.graphs.backward.aliases import sources_of
from gradmill.extensions.graphs.backward.program import Block, CallBlock, Tensor
from gradmill.extensions.graphs.functional.program import Functional, names_in
from gradmill.extensions.graphs.model import Ref, Value


def compacted(program: Functional, blocks: Iterable[Block], tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """The saved tensors, with those as `part` that are copied if they are at most half of the memory that they keep."""
    memory = _memory(program)
    # What the library's autograd saves of the calls that it records is not known.
    recorded = [tuple(b.step.arguments.values()) for b in blocks if isinstance(b, CallBlock) and b.record]
    kept = Counter(
        base for values in (*recorded, *((tensor.value,) for tensor in tensors)) for base in _bases(memory, values)
    )

    def alone(tensor: Tensor) -> bool:
        value = tensor.value
        is_view = isinstance(value, Ref) and value.name not in memory.get(value.name, {value.name})
        return tensor.how == "plain" and is_view and all(kept[base] == 1 for base in _bases(memory, (value,)))

    return tuple(replace(tensor, how="part") if alone(tensor) else tensor for tensor in tensors)


def _memory(program: Functional) -> dict[str, frozenset[str]]:
    """The values whose memory each computed value may be in: its own name, if it aliases none."""
    memory: dict[str, frozenset[str]] = {}
    for name, sources in sources_of(program).items():
        memory[name] = _bases(memory, sources) or frozenset([name])
    return memory


def _bases(memory: dict[str, frozenset[str]], values: Iterable[Value]) -> frozenset[str]:
    found = (memory.get(name, frozenset([name])) for name in names_in(tuple(values)))
    return frozenset[str]().union(*found)
