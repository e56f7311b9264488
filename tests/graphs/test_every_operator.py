"""What graphs know of all operators of the installed torch, against what calls of these do: which results are in the
memory of arguments, which arguments are written to, which have gradients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gradmill.extensions.graphs.model import Call, Place, Ref
from gradmill.extensions.graphs.operator import Operator, shares, written_arguments
from gradmill.extensions.graphs.passes.differentiate.histories import differentiable, records
from gradmill.extensions.graphs.passes.functionalize.program import Apply
from gradmill.extensions.graphs.passes.functionalize.writes import hidden_writes
from gradmill.extensions.graphs.queries.graphs import overloads
from gradmill.extensions.graphs.queries.operators import operator
from gradmill.extensions.graphs.traits import COPIES, REFUSED
from gradmill.grammar.buckets import bucket_of
from gradmill.model.schema import schema_kind
from gradmill.query.database import Database
from graphs.every_operator import Facts, facts, operators
from graphs.reading import Reading

pytestmark = [pytest.mark.slow(5)]

LEAST = 0.6  # of the operators have a successful call


def _operators(db: Database, names: list[str]) -> Iterator[tuple[str, Operator]]:
    for name in names:
        base, _, overload = name.partition(".")
        for identity in overloads.item(db, bucket_of(base), base) or ():
            found = operator(db, identity)
            if found is not None and found.schema.name.overload == overload:
                yield name, found


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Operator, Facts]]:
    """Each operator with a successful call: its name, what graphs know of it, what it did."""
    folder = Path(tmp_path_factory.mktemp("operators"))
    (folder / "f.py").write_text("from torch import Tensor\n\n\ndef f(x: Tensor) -> Tensor:\n    return x\n")
    asked = operators()
    every = {name: one for name, one in facts(asked, folder, tries=40, calls=6).items() if one.calls}
    assert len(every) > LEAST * len(asked) > 500
    db = Reading(folder / "f.py", "torch").build.db
    found = [(name, one, every[name]) for name, one in _operators(db, list(every))]
    assert len(found) == len(every)
    return [row for row in found if row[1].name not in REFUSED]


def test_results_alias_the_arguments_that_the_table_names(known: list[tuple[str, Operator, Facts]]) -> None:
    wrong = []
    for name, one, did in known:
        row, written = shares(one.function), set(written_arguments(one.schema))
        aliased = (did.viewed | did.itself) - written
        if aliased - ({row.argument} if row else set()):
            wrong.append(f"{name}: a result may be in the memory of {sorted(aliased)}")
        elif row and not row.untracked and did.itself and not row.itself:
            wrong.append(f"{name}: a result may be {row.argument} itself")
        elif row and not row.untracked and not row.copied and aliased and row.argument in did.apart:
            wrong.append(f"{name}: a result may be a copy of {row.argument}")
    assert wrong == []


def test_arguments_are_written_to_as_graphs_know(known: list[tuple[str, Operator, Facts]]) -> None:
    wrong = []
    for name, one, did in known:
        arguments = {argument.name: Ref(argument.name) for argument in one.schema.arguments}
        call = Call(name, one.identity, arguments, (), Place())
        declared = {*written_arguments(one.schema), *hidden_writes(call, one)}
        wrong += [f"{name}: {sorted(did.written - declared)}"] if did.written - declared else []
    assert wrong == []


def test_a_gradient_reaches_each_argument_that_has_one_in_eager(known: list[tuple[str, Operator, Facts]]) -> None:
    wrong = []
    for name, one, did in known:
        step = Apply(one.identity, {}, (), Place())
        written = set(written_arguments(one.schema))
        if schema_kind(one.schema) == "out" and (one.outputs or one.composite):
            continue  # refused if an argument needs a gradient
        reached = set(differentiable(one)) if records(step, one) else written
        reached |= written if one.name in COPIES else set()
        lost = did.differentiable - reached - set(one.refused)
        wrong += [f"{name}: {sorted(lost)}"] if lost else []
    assert wrong == []
