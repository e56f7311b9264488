"""Stage `graphs`: the files that `graphs=` names to functions of operator calls.

A `.py` file is cut into functions. Each depends on its own text, the file's imports and constants, and the overloads
of the operators that it names. A `.pt2` file is one function. Nothing here depends on a formula.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from gradmill.extensions.graphs.arguments import OperatorArgument, schema_text
from gradmill.extensions.graphs.family import GRAPHS
from gradmill.extensions.graphs.model import Function
from gradmill.extensions.graphs.operator import Op
from gradmill.extensions.graphs.passes.lower.decompose import decompose
from gradmill.extensions.graphs.print.files import SHARED
from gradmill.extensions.graphs.print.function import taken
from gradmill.extensions.graphs.read.exported.lost import RULE as LOST_BACKWARD
from gradmill.extensions.graphs.read.exported.model import read_model
from gradmill.extensions.graphs.read.python.function import read_function
from gradmill.extensions.graphs.read.python.source import NOTHING, Context, Source, read_source
from gradmill.extensions.graphs.settings import GraphRequest
from gradmill.grammar.buckets import bucket_of
from gradmill.model.layers import entry_operator
from gradmill.problems.problem import Problem, TextError, nearest
from gradmill.query.database import Database
from gradmill.query.query import query, table
from gradmill.releases import resolve
from gradmill.stages.added import added_label
from gradmill.stages.schemas import buckets, entry_of, heads
from gradmill.stages.schemas import function as native
from gradmill.stages.set import unreadable, version

EXPORTED = ".pt2"  # the files of torch.export.save


@query
def asked(db: Database) -> GraphRequest:
    """The graph files and how they are read; none without `graphs=`."""
    data = db.input(GRAPHS.name)
    return msgspec.msgpack.decode(data, type=GraphRequest) if data else GraphRequest([], "")


@query
def wanted(db: Database) -> GraphRequest:
    """How graphs are read and generated, whatever their files are."""
    return replace(asked(db), files=[])


# ---- operators


@table
def overloads(db: Database, bucket: str) -> dict[str, list[str]]:
    """The functions of each operator of a bucket, declared and generated, by `aten::add_`."""
    by_operator: dict[str, list[str]] = {}
    for name, head in heads(db, bucket):
        namespace, separator, _ = entry_operator(entry_of(name)).partition("::")
        by_operator.setdefault(f"{namespace if separator else 'aten'}::{head.unqualified}", []).append(name)
    return by_operator


class _Ops:
    """The operators of the set, looked up one by one."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def overloads(self, name: str) -> list[Op]:
        listed = overloads.item(self._db, bucket_of(name), name) or []
        functions = ((each, native(self._db, each)) for each in listed)
        return [Op(each, function) for each, function in functions if function is not None]

    def near(self, name: str) -> str:
        listed = (each for bucket in self._db.names(buckets) for each in self._db.names(overloads, bucket))
        names = sorted(each.removeprefix("aten::") for each in listed)
        return nearest(name.removeprefix("aten::"), names)


# ---- files


def stem(file: str) -> str:
    """The name of a file's program: `held_out` of `held_out.py`, as a C++ identifier."""
    name = file.rpartition(".")[0]
    identifier = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in name)
    return f"_{identifier}" if identifier[:1].isdigit() else identifier


@query
def source(db: Database, file: str) -> Source:
    """The parts of a `.py` file: its functions, imports and constants. Reports errors of the file as a whole."""
    data = _read(db, file)
    if data is None:
        return Source({}, {}, NOTHING, [], [])
    parts = read_source(data)
    for error in parts.errors:
        db.report(about(file, "", error.problem, error.hint, error.line, error.column))
    return parts


@query
def context(db: Database, file: str) -> Context:
    """The names that every function of a `.py` file can use."""
    return source(db, file).context


@table
def texts(db: Database, file: str) -> dict[str, str]:
    """The text of each function of a `.py` file."""
    return source(db, file).functions


def text_of(db: Database, file: str, name: str) -> str:
    """The text of a function; "" in a `.pt2` file."""
    return "" if is_exported(file) else texts.item(db, file, name) or ""


@query
def names(db: Database, file: str) -> list[str]:
    """The functions of a file; a `.pt2` file has one, with the file's name."""
    if not is_exported(file):
        return db.names(texts, file)
    return [stem(file)] if _read(db, file) is not None else []


def _read(db: Database, file: str) -> bytes | None:
    """The bytes of a file; None, with a report, if it cannot be read."""
    label = added_label(GRAPHS.name, file)
    data = db.input(label)
    if data is None:
        why = unreadable(db).get(label, "it is missing")
        db.report(about(file, "", f"cannot be read: {why}"))
    return data


def is_exported(file: str) -> bool:
    """Whether a file of graphs is an exported program, a `.pt2`, and no Python source."""
    return file.endswith(EXPORTED)


@query
def graph(db: Database, file: str, name: str) -> Function | None:
    """A function of a file; None if it has errors, which are reported."""
    if is_exported(file):
        data, given = db.input(added_label(GRAPHS.name, file)) or b"", wanted(db)
        function, errors, warnings = read_model(
            name, data, _Ops(db), resolve(version(db)), given.device, decomposed=given.decomposed
        )
        for warning in warnings:
            db.report(replace(problem_in(file, name, warning), warning=True, rule=LOST_BACKWARD))
    else:
        text = texts.item(db, file, name)
        if text is None:
            return None
        function, errors = read_function(text, context(db, file), _Ops(db))
    for error in errors:
        db.report(problem_in(file, name, error))
    return function


@query
def lean(db: Database, file: str, name: str) -> Function | None:
    """A function with operators lowered to their decompositions if the graph describes their tensors."""
    function = graph(db, file, name)
    return None if function is None else decompose(function, _Ops(db))


def problem_in(file: str, name: str, error: TextError) -> Problem:
    """The problem for an error in a function, with the line counted from the function's first line."""
    return about(file, name, error.problem, error.hint, error.line, error.column)


def about(file: str, name: str, problem: str, hint: str = "", line: int = 0, column: int = 0) -> Problem:
    """A problem of a file, or of one of its functions, whose lines are counted from the function's first one."""
    return Problem(
        "added", name, name, problem, hint, line=line, column=column, file=added_label(GRAPHS.name, file), rule="graph"
    )


@query
def signature(db: Database, file: str, name: str) -> str:
    """The schema of the operator that a function becomes; without arguments if the function has errors."""
    function = graph(db, file, name)
    called = f"{wanted(db).namespace}::{name}"
    if function is None:
        return f"{called}()"
    return schema_text(called, function, [OperatorArgument((each,)) for each in function.inputs])


@query
def lines(db: Database, file: str) -> dict[str, int]:
    """The line that each function of a file begins at."""
    return {} if is_exported(file) else source(db, file).lines


@query
def all_names(db: Database) -> list[tuple[str, str]]:
    """The functions of all files, each with its file. Reports names that two files, functions, or parts of their C++
    would have."""
    stems: dict[str, str] = {name.partition(".")[0]: "" for name in SHARED}  # in lower case: not all systems have cases
    first: dict[str, str] = {}
    listed = []
    for file in asked(db).files:
        other = stems.setdefault(stem(file).lower(), file)
        if other != file:
            cased = "" if other and stem(other) == stem(file) else ", where case makes no difference"
            what = f"'{other}' and '{file}' would both be generated as graphs/{stem(file)}.cpp{cased}"
            what = what if other else f"graphs/{stem(file).lower()}.h is a header that all graphs share"
            db.report(about(file, "", what, "rename one of them"))
            continue
        clashes = taken(names(db, file))
        for name in names(db, file):
            before = first.setdefault(name, file)
            what = f"the function '{name}' is in '{before}' already: both would be one operator"
            if before == file:
                if name not in clashes:
                    listed.append((file, name))
                    continue
                what = f"the C++ of '{clashes[name]}' has the name '{name}', too"
            db.report(about(file, name, what, "rename one of them", 1, 1))
    return listed


@query
def stage(db: Database) -> int:
    """Validates all functions of all files; returns their number."""
    return len([db.digest(graph, file, name) for file, name in all_names(db)])
