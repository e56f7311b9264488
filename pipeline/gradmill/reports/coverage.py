"""Coverage of derivatives: forward mode, formulas that are not implemented, what each Node saves.

Reads the Nodes and their infos, and returns a `Coverage`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from gradmill.model.autograd import Info, SavedAttribute
from gradmill.model.nodes import NodeRow
from gradmill.problems.problem import SpecError, nearest
from gradmill.query.database import Database
from gradmill.reports.served import served
from gradmill.stages.match import info, nodes
from gradmill.stages.schemas import all_heads
from gradmill.stages.set import spec_set, version

_NOT_IMPLEMENTED = re.compile(r"\bnot_implemented(_list)?\(")
_TENSOR = re.compile(r"\bat::Tensor(List)?\b")


class Saved(Struct, frozen=True):
    """An attribute that a Node keeps from the forward pass for the backward pass."""

    name: str
    type: str
    tensor: bool  # a tensor, or a list or optional of tensors: these cost memory
    input: bool = False  # whether it is computed from an input, not from an output


class Row(Struct, frozen=True):
    """One differentiable operator under one dispatch key."""

    op: str  # with its overload name
    dispatch_key: str
    node: str
    inputs: tuple[str, ...]  # the differentiable ones
    forward: tuple[str, ...]  # outputs with a forward formula
    not_implemented: tuple[str, ...]  # inputs with a formula that only raises an error
    saves: tuple[Saved, ...]
    serves: tuple[str, ...]  # in-place and other variants that use the same formulas
    synthesized: bool  # a foreach function

    @property
    def label(self) -> str:
        """The operator, followed by the dispatch key unless that is the default."""
        return self.op if self.dispatch_key == "Default" else f"{self.op} [{self.dispatch_key}]"


class Totals(Struct, frozen=True):
    """Counts over the rows. `functions` also counts the variants that use the same formulas."""

    nodes: int
    forward: int
    without_forward: int
    some_not_implemented: int
    all_not_implemented: int
    saving_tensors: int
    saving_nothing: int
    saved_tensors: int
    saved_others: int
    functions: int
    functions_forward: int


class Coverage(Struct, frozen=True):
    """A spec set's coverage."""

    specs: str
    release: str
    totals: Totals
    rows: tuple[Row, ...]


# The rows that `--only` selects.
ONLY: dict[str, Callable[[Row], bool]] = {
    "no-forward": lambda row: not row.forward,
    "not-implemented": lambda row: bool(row.not_implemented),
    "saves-input": lambda row: any(saved.tensor and saved.input for saved in row.saves),
    "saves-output": lambda row: any(saved.tensor and not saved.input for saved in row.saves),
    "saves-nothing": lambda row: not row.saves,
}


def measure(db: Database, names: Sequence[str] = (), only: str = "") -> Coverage:
    """The coverage of a spec set without errors: a row per Node, in the order of the operators. `names` selects
    operators and Nodes, `only` is "" or a key of ONLY. A SpecError reports a name that is neither."""
    variants, heads = served(db), dict(all_heads(db))
    rows = []
    for _, row in nodes(db):
        served_info = info(db, row.function, row.dispatch_key)
        if served_info is not None:
            serves = dict.fromkeys(heads[each].name for each in variants.get((row.function, row.dispatch_key), ()))
            rows.append(row_of(row, served_info, tuple(serves)))
    rows.sort(key=order)
    if names:
        rows = _named(rows, names)
    if only:
        rows = list(filter(ONLY[only], rows))
    release = version(db)
    return Coverage(spec_set(db).name, release, totals_of(rows), tuple(rows))


def _named(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """The rows that match `names`: an operator with or without overload, a variant that a row serves, or a Node."""
    called = [_names_of(row) for row in rows]
    known = set().union(*called)
    for name in names:
        if name not in known:
            raise SpecError(f"coverage: nothing with derivatives is called '{name}'", nearest(name, known))
    return [row for row, names_of in zip(rows, called) if not names_of.isdisjoint(names)]


def _names_of(row: Row) -> set[str]:
    ops = (row.op, *row.serves)
    return {row.node, *ops, *(op.partition(".")[0] for op in ops)}


def order(row: Row) -> tuple[str, str, bool, str]:
    """The sort key of a row: its operator, without leading underscores first, then the dispatch key."""
    return row.op.lstrip("_"), row.op, row.dispatch_key != "Default", row.dispatch_key


def is_missing(formula: str) -> bool:
    """Whether a formula only raises an error."""
    return _NOT_IMPLEMENTED.search(formula) is not None


def is_tensor(type_: str) -> bool:
    """Whether a C++ type is a tensor, or a list or optional of tensors; those of facts about a tensor are not."""
    return _TENSOR.search(type_) is not None


def row_of(row: NodeRow, info: Info, serves: tuple[str, ...]) -> Row:
    """The coverage of one Node. `serves`: the functions that it serves, by name."""
    failing = [n for d in info.derivatives if is_missing(d.formula) for n in d.var_names]
    return Row(
        op=row.op,
        dispatch_key=row.dispatch_key,
        node=row.node or "",
        inputs=tuple(a.name for a in info.args_with_derivatives),
        forward=tuple(name for d in info.forward_derivatives for name in d.var_names),
        not_implemented=tuple(failing),
        saves=(*(_saved(a, True) for a in info.all_saved_inputs), *(_saved(a, False) for a in info.all_saved_outputs)),
        serves=serves,
        synthesized=row.synthesized,
    )


def _saved(attribute: SavedAttribute, is_input: bool) -> Saved:
    return Saved(attribute.name, attribute.type, is_tensor(attribute.type), is_input)


def totals_of(rows: Sequence[Row]) -> Totals:
    """How many Nodes have forward formulas, are not implemented in part or as a whole, and save what."""
    forward = [row for row in rows if row.forward]
    tensors = [sum(saved.tensor for saved in row.saves) for row in rows]
    saved = sum(len(row.saves) for row in rows)
    return Totals(
        nodes=len(rows),
        forward=len(forward),
        without_forward=len(rows) - len(forward),
        some_not_implemented=sum(bool(row.not_implemented) for row in rows),
        all_not_implemented=sum(set(row.not_implemented) == set(row.inputs) for row in rows),
        saving_tensors=sum(map(bool, tensors)),
        saving_nothing=sum(not row.saves for row in rows),
        saved_tensors=sum(tensors),
        saved_others=saved - sum(tensors),
        functions=_functions(rows),
        functions_forward=_functions(forward),
    )


def _functions(rows: Sequence[Row]) -> int:
    return len({name for row in rows for name in (row.op, *row.serves)})
