"""How many bytes the values of a graph take, and whose memory they are in: estimates for a memory budget.

The sizes are those of the export. Nothing is known of those in a `.py`: there, and for parts of a decomposition, a
result is as large as the largest argument of its call.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from gradmill.extensions.graphs.model import ANY, Result, Value
from gradmill.extensions.graphs.operator import Operator, viewed_argument
from gradmill.extensions.graphs.passes.functionalize.program import Apply, Choose, Functional, Scatter, Step, tensors_of
from gradmill.extensions.graphs.traits import FURTHER, PERHAPS_ITSELF, REORDERING, RESHAPES, name_of

AT_RUN_TIME = 32  # stands for a size that is known at run time only
UNKNOWN = 4096  # bytes, of a tensor without any known size
_BYTES = {"bool": 1, "uint8": 1, "int8": 1, "int16": 2, "float16": 2, "bfloat16": 2, "int64": 8, "float64": 8}
_BYTES |= {"complex64": 8, "complex128": 16}


class Sizes:
    """The bytes of each value, and of each view the value that it is a view of."""

    def __init__(self, program: Functional, operators: Mapping[str, Operator]) -> None:
        self._bytes: dict[str, int] = {}
        self.bases: dict[str, str] = {}
        self._reordered: set[str] = set()
        for name, input_ in program.inputs.items():
            if input_.facts is not None:
                self._bytes[name] = _bytes(input_.facts.sizes, input_.facts.dtype)
        self._known = {r.name for s in program.steps if isinstance(s, Apply) for r in s.results if r.sizes is not None}
        for step in program.steps:
            self._follow(step, operators)
        for name, base in reversed(self.bases.items()):
            if name in self._known and base not in self._known and base in self._bytes and name not in self._reordered:
                self._bytes[base] = self._bytes[name]  # a decomposition's product, which has the size of its view
                self._known.add(base)

    def of(self, name: str) -> int:
        """The bytes of a value."""
        return self._bytes.get(name, UNKNOWN)

    def whole(self, name: str) -> str:
        """The value whose memory a value is in."""
        while name in self.bases:
            name = self.bases[name]
        return name

    def is_part(self, name: str) -> bool:
        """Whether a value is a view of at most half of the memory, which is copied if nothing else keeps that."""
        return name in self.bases and 2 * self.of(name) <= self.of(self.whole(name))

    def _follow(self, step: Step, operators: Mapping[str, Operator]) -> None:
        if isinstance(step, Scatter):
            self._bytes[step.result] = self._largest((step.base,))
        elif isinstance(step, Choose):
            self._bytes[step.result] = self._largest((step.then, step.otherwise))
        elif isinstance(step, Apply):
            largest = self._largest(tuple(step.arguments.values()) if step.written is None else (step.written,))
            for at, result in enumerate(step.results):
                guess = largest // (FURTHER.get(operators[step.identity].name, 64) if at else 1)
                known = result.sizes is not None
                self._bytes[result.name] = _bytes(result.sizes or (), result.dtype) if known else guess
            for _, clone in step.clones:
                self._bytes[clone] = largest
            if step.view:
                self._view(step, step.results[0], operators[step.identity])
            elif step.shares and operators[step.identity].name in PERHAPS_ITSELF:
                source = tensors_of(step.shares[0])[0].name
                if self.of(source) == self.of(step.results[0].name):
                    self.bases[step.results[0].name] = source

    def _view(self, step: Apply, result: Result, operator: Operator) -> None:
        """Notes what a view is a view of; a reshape of a tensor in another order is none."""
        based = tensors_of(step.arguments[viewed_argument(operator.called) or ""])[0].name
        name = name_of(operator.called)
        if operator.composite and based in self._reordered and name in RESHAPES:
            return
        self.bases[result.name] = based
        if name in REORDERING or based in self._reordered:
            self._reordered.add(result.name)

    def _largest(self, values: tuple[Value, ...]) -> int:
        return max((self.of(each.name) for value in values for each in tensors_of(value)), default=UNKNOWN)


def _bytes(sizes: tuple[int, ...], dtype: str) -> int:
    return prod(AT_RUN_TIME if size == ANY else size for size in sizes) * _BYTES.get(dtype, 4)
