"""The plan of a graph as data: all that its C++ is generated from."""

from __future__ import annotations

from msgspec import Struct

from pipeline.cpp.dispatcher import Signature
from pipeline.families.nodes.plan import NodePlan
from pipeline.graphs.backward.histories import Gate
from pipeline.graphs.backward.program import Backward, Part
from pipeline.graphs.functional.names import identifier
from pipeline.graphs.functional.program import Check, Functional
from pipeline.graphs.model import Custom, Value


class Returned(Part, frozen=True):
    """A value that the forward returns to the wrapper, and the inputs that it depends on."""

    name: str
    value: Value
    needs: tuple[int, ...]
    slot: str  # values with the same gradient share a slot
    listed: bool = False


class TensorInput(Struct, frozen=True):
    """An input that is a tensor or a list of tensors: its index among these inputs, its name, its type."""

    index: int
    name: str
    type: str


class GraphPlan(Struct, frozen=True):
    """All that the C++ of a graph is generated from."""

    functional: Functional
    backward: Backward
    returned: tuple[Returned, ...]
    tensors: tuple[TensorInput, ...]
    checks: tuple[tuple[Check, tuple[int, ...]], ...]  # each with the inputs that it depends on
    refusals: dict[
        int, tuple[int, ...]
    ]  # the inputs that a ErrorIfRequiresGrad step depends on, by the index of the step
    needs: dict[str, tuple[int, ...]]  # the inputs that a value depends on, by the value's name
    gates: dict[str, Gate]  # by the value's name: their places are next to those of inputs in any needs
    unions: tuple[tuple[int, ...], ...]  # sets of places: number i is the place `len(tensors) + len(gates) + i`
    # The function that is called for an operator, and the operator itself, by its identity. The `operator` of a
    # signature is the name in the tables: `aten::mul.Tensor`.
    called: dict[str, Signature]
    original: dict[str, Signature]
    nodes: dict[str, NodePlan]
    results: dict[str, tuple[str, ...]]  # the names of an operator's results in formulas, by its identity
    viewed: dict[str, str]  # the argument that an operator's result is a view of, by its identity
    variants: tuple[Variant, ...] = ()  # for inputs that share memory
    callees: dict[str, CondPlan | Custom] = {}  # what is called other than operators of the set, by identity
    once: str | None = None  # why its backward cannot be differentiated again, "" if it can; None if not requested

    @property
    def name(self) -> str:
        """Its C++ name."""
        return identifier(self.functional.function.name)

    @property
    def history(self) -> frozenset[int]:
        """The inputs that any value with a history depends on."""
        return frozenset(place for each in self.returned for place in each.needs)

    @property
    def places(self) -> int:
        """The number of places in any needs: of inputs, of gates, of unions."""
        return len(self.tensors) + len(self.gates) + len(self.unions)

    @property
    def is_recorded(self) -> bool:
        """Whether autograd records the forward, if an input needs a gradient."""
        return self.once == "" and bool(self.history)

    @property
    def has_backward(self) -> bool:
        """Whether it has a backward, and a Node."""
        return bool(self.backward.blocks) or any(each.needs for each in self.returned)

    def is_gated(self, needs: tuple[int, ...]) -> bool:
        """Whether places are only known after some steps of the forward: gates, or sets with gates."""
        first = len(self.tensors) + len(self.gates)
        return any(
            self.is_gated(self.unions[place - first]) if place >= first else place >= len(self.tensors)
            for place in needs
        )

    @property
    def functions(self) -> tuple[GraphPlan, ...]:
        """The plans of its C++ functions, each after those that it calls: of branches, of variants, its own."""
        conds = [callee for callee in self.callees.values() if isinstance(callee, CondPlan)]
        branches = [each for cond in conds for branch in (cond.then, cond.otherwise) for each in branch.functions]
        return (*branches, *(variant.plan for variant in self.variants), self)


class CondPlan(Struct, frozen=True, tag="cond"):
    """The two branches of a cond."""

    then: GraphPlan
    otherwise: GraphPlan


class Variant(Struct, frozen=True):
    """The graph for inputs that share memory: a synthetic base replaces each set of them."""

    plan: GraphPlan
    shared: tuple[tuple[str, ...], ...]
