"""The C++ of whole graphs: the plan of each function, its text, and the files that contain functions.

A plan depends on one row for each operator that the function calls, so that only the graphs that use a formula depend
on it.
"""

from __future__ import annotations

from gradmill.extensions.graphs.model import GraphError
from gradmill.extensions.graphs.plan import GraphPlan
from gradmill.extensions.graphs.planner import operators_of, plan_graph
from gradmill.extensions.graphs.print.files import formulas_of, function_pieces
from gradmill.extensions.graphs.queries.graphs import about, lean, wanted
from gradmill.extensions.graphs.queries.operators import operator, sources
from gradmill.problems.problem import Problem, SpecError
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.stages.schemas import bucket_of_function
from gradmill.stages.set import release


@query
def plan(db: Database, file: str, name: str) -> GraphPlan | None:
    """The plan of a function; None if it has errors, or uses what graphs do not support."""
    function = lean(db, file, name)
    if function is None:
        return None
    rows = {identity: operator(db, identity) for identity in operators_of(function)}
    operators = {identity: each for identity, each in rows.items() if each is not None}
    try:
        given = wanted(db)
        return plan_graph(function, operators, release(db), twice=given.double_backward, memory=given.memory)
    except SpecError as error:
        for each in (error, *error.others):
            db.report(_problem(file, name, each))
        return None


def _problem(file: str, name: str, error: SpecError) -> Problem:
    place = error.place if isinstance(error, GraphError) else None
    line, column = (place.line, place.column) if place is not None else (1, 1)
    problem = f"{place.node}: {error.problem}" if place is not None and place.node else error.problem
    return about(file, name, problem, error.hint, line, column)


def pieces(db: Database, unit: str) -> dict[str, str] | None:
    """The text of a function and of the formulas that it uses, as the pieces of a unit; None if it has errors."""
    planned = plan(db, *unit.rsplit(":", 1))
    if planned is None:
        return None
    formulas = {node: text for each in planned.functions for node, text in formulas_of(each, release(db)).items()}
    return {**function_pieces(planned, release(db)), **formulas}


@query
def operators_called(db: Database, file: str, name: str) -> list[str]:
    """The identities of the operators that a function calls."""
    function = lean(db, file, name)
    return [] if function is None else operators_of(function)


@query
def formulas_used(db: Database, file: str, name: str) -> list[str]:
    """The functions whose formulas the backward of a function uses."""
    planned = plan(db, file, name)
    used = [identity for each in planned.functions for identity in each.nodes] if planned is not None else []
    found = (sources.item(db, bucket_of_function(identity), identity) for identity in used)
    return list(dict.fromkeys(source for source in found if source is not None))
