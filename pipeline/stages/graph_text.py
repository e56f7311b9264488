"""The C++ of whole graphs: the plan of each function, its text, and the files that contain functions.

A plan depends on one row for each operator that the function calls, so that only the graphs that use a formula depend
on it.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from pipeline.families.family import generated_comment
from pipeline.families.file import File
from pipeline.families.graphs.files import FOLDER, GRAPHS
from pipeline.graphs.errors import GraphError
from pipeline.graphs.plan import GraphPlan
from pipeline.graphs.planner import operators_of, plan_graph
from pipeline.graphs.text.files import (
    PARTS,
    SUPPORT,
    formulas_of,
    function_pieces,
    header,
    of_function,
    part,
    parts_header,
    parts_of,
    source,
    support_text,
)
from pipeline.problems.problem import Problem, SpecError
from pipeline.query.database import Database
from pipeline.query.query import query
from pipeline.stages.graph_operators import operator
from pipeline.stages.graphs import all_names, lean, stem
from pipeline.stages.set import asked, namespace, release, spec_set, template_label


@query
def plan(db: Database, file: str, name: str) -> GraphPlan | None:
    """The plan of a function; None if it has errors, or uses what graphs do not support."""
    function = lean(db, file, name)
    if function is None:
        return None
    rows = {identity: operator(db, identity) for identity in operators_of(function)}
    operators = {identity: each for identity, each in rows.items() if each is not None}
    try:
        return plan_graph(function, operators, release(db))
    except SpecError as error:
        for each in (error, *error.others):
            db.report(_problem(file, name, each))
        return None


def _problem(file: str, name: str, error: SpecError) -> Problem:
    place = error.place if isinstance(error, GraphError) else None
    line, column = (place.line, place.column) if place is not None else (1, 1)
    problem = f"{place.node}: {error.problem}" if place is not None and place.node else error.problem
    return Problem("graph", name, name, problem, error.hint, line=line, column=column, file=file)


def pieces(db: Database, unit: str) -> dict[str, str] | None:
    """The text of a function and of the formulas that it uses, as the pieces of a unit; None if it has errors."""
    planned = plan(db, *unit.rsplit(":", 1))
    if planned is None:
        return None
    every = (planned, *(variant.plan for variant in planned.variants))
    formulas = {node: text for each in every for node, text in formulas_of(each, release(db)).items()}
    return {**function_pieces(planned, namespace(db), release(db)), **formulas}


@query
def plans(db: Database, file: str) -> list[GraphPlan]:
    """The plans of the functions of a file."""
    candidates = (plan(db, own, name) for own, name in all_names(db) if own == file)
    return [each for each in candidates if each is not None]


@query
def parts(db: Database, file: str) -> list[str]:
    """The endings of the files that a file of functions needs beyond a header and a source, since it is large."""
    return parts_of(_pieces(db, file))


def _pieces(db: Database, file: str) -> list[dict[str, str]]:
    """The pieces of the functions of a file, without formulas."""
    from pipeline.stages.emit import text  # emit imports this module on demand

    listed = (text(db, GRAPHS.name, f"{own}:{name}") for own, name in all_names(db) if own == file)
    return list(map(of_function, listed))


def more(db: Database, sources: Mapping[str, File]) -> list[File]:
    """The further files of large files of functions, in addition to their `sources`, by name."""
    return [
        replace(sources[f"{FOLDER}{stem(file)}.cpp"], name=f"{FOLDER}{stem(file)}{ending}")
        for file in asked(db).files
        if f"{FOLDER}{stem(file)}.cpp" in sources
        for ending in parts(db, file)
    ]


def support(db: Database) -> list[File]:
    """The files that all files of graphs share: gradmill's own, and the spec set's templates."""
    templates = [name for name in GRAPHS.templates if name in spec_set(db).templates]
    named = [*((name, "") for name in SUPPORT if name not in templates), *((name, name) for name in templates)]
    return [File(f"{FOLDER}{name}", template, {}, {}, (), family=GRAPHS.name, whole=True) for name, template in named]


def whole(db: Database, name: str) -> str:
    """The text of a file of graphs."""
    inner = name.removeprefix(FOLDER)
    if inner in GRAPHS.templates and inner in spec_set(db).templates:
        text = (db.input(template_label(inner)) or b"").decode("utf-8", "replace")
        return f"// {generated_comment('templates', inner)}\n{text}"
    if inner in SUPPORT:
        return support_text(inner, release(db))
    file = next(each for each in asked(db).files if inner.startswith(f"{stem(each)}."))
    comment = generated_comment("graphs", file)
    planned = plans(db, file)
    endings, ending = parts(db, file), inner.removeprefix(stem(file))
    if ending == PARTS:
        return parts_header(planned, _pieces(db, file), stem(file), comment, release(db))
    if endings and ending != ".h":
        number = endings.index(ending) + 1 if ending in endings else 1
        return part(planned, _pieces(db, file), number, stem(file), comment, namespace(db), release(db))
    if inner.endswith(".h"):
        return header(planned, stem(file), comment, namespace(db), release(db))
    return source(planned, stem(file), comment, namespace(db), release(db))
