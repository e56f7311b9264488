"""The plan of a graph as data: all that its C++ is generated from."""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.dispatcher import Signature
from gradmill.extensions.graphs.model import Custom, Value
from gradmill.extensions.graphs.passes.functionalize.names import identifier
from gradmill.extensions.graphs.passes.functionalize.program import Functional
from gradmill.extensions.graphs.passes.gradients import Backward
from gradmill.extensions.graphs.passes.needs import AnyOf, Row
from gradmill.families.nodes.plan import NodePlan


class Returned(Struct, frozen=True):
    """A value that the forward returns to the wrapper, and the inputs that it depends on."""

    name: str
    value: Value
    needs: AnyOf
    slot: str  # values with the same gradient share a slot
    listed: bool = False


class RequiresGrad(Struct, frozen=True):
    """The rows of a graph, and the places of these, or of inputs, by which its parts need a gradient."""

    rows: tuple[Row, ...]
    decided: dict[str, list[Row]]  # by the values with gates: the rows that are known once a value is computed
    values: dict[str, AnyOf]  # by the value's name
    checks: tuple[AnyOf, ...]  # of each check
    refusals: dict[int, AnyOf]  # of each ErrorIfRequiresGrad step, by its index

    @property
    def gates(self) -> list[Row]:
        """The rows that the forward decides."""
        return [row for row in self.rows if row.gate]

    @property
    def late(self) -> set[int]:
        """The places that are known only after some steps of the forward."""
        return {row.place for rows in self.decided.values() for row in rows}


class OperatorPlan(Struct, frozen=True):
    """How an operator is called. The `operator` of a signature is the name in the tables: `aten::mul.Tensor`."""

    called: Signature  # of the function that is called for it
    original: Signature  # its own
    results: tuple[str, ...]  # the names of results in formulas
    viewed: str  # the argument that the result is a view of, "" if it is not a view
    node: NodePlan | None  # if its formula is used
    callee: CondPlan | Custom | None  # if it is not an operator of the set
    real: bool  # whether autograd refuses a complex result that needs a gradient

    @property
    def formula(self) -> NodePlan:
        """The Node of an operator whose formula is used."""
        assert self.node is not None
        return self.node

    def signature(self, *, of_clones: bool) -> Signature:
        """The signature to call it by; `of_clones`: on copies, which it writes to."""
        return self.original if of_clones else self.called


class GraphPlan(Struct, frozen=True):
    """All that the C++ of a graph is generated from."""

    functional: Functional
    backward: Backward
    returned: tuple[Returned, ...]
    tensors: dict[str, str]  # the types of the inputs that are tensors, or lists of these, by name
    needs: RequiresGrad
    operators: dict[str, OperatorPlan]  # by identity
    variants: tuple[Variant, ...] = ()  # for inputs that share memory
    once: str | None = None  # why its backward cannot be differentiated again, "" if it can; None if not requested

    @property
    def name(self) -> str:
        """Its C++ name."""
        return identifier(self.functional.function.name)

    @property
    def nodes(self) -> list[str]:
        """The identities of the operators whose formulas are used."""
        return sorted(identity for identity, each in self.operators.items() if each.node is not None)

    @property
    def history(self) -> frozenset[int]:
        """The inputs that any value with a history depends on."""
        return frozenset(place for each in self.returned for place in each.needs)

    @property
    def is_recorded(self) -> bool:
        """Whether autograd records the forward, if an input needs a gradient."""
        return self.once == "" and bool(self.history)

    @property
    def has_backward(self) -> bool:
        """Whether it has a backward, and a Node."""
        return bool(self.backward.blocks) or any(each.needs for each in self.returned)

    @property
    def functions(self) -> tuple[GraphPlan, ...]:
        """The plans of its C++ functions, each after those that it calls: of branches, of variants, its own."""
        callees = (each.callee for each in self.operators.values())
        conds = [callee for callee in callees if isinstance(callee, CondPlan)]
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
