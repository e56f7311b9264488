"""Stage `graphs`: the files that `graphs=` names to functions of operator calls.

A `.py` file is cut into functions, each of which is read with its own text, the file's imports and constants, and the
overloads of the operators that it names; a `.pt2` file is one function. Nothing here asks for a formula.
"""

from __future__ import annotations

from pipeline.grammar.buckets import bucket_of
from pipeline.graphs.exported.model import read_model
from pipeline.graphs.lowering.decompose import decompose
from pipeline.graphs.model import Function, Program
from pipeline.graphs.ops import Op
from pipeline.graphs.python.function import read_function
from pipeline.graphs.python.source import NOTHING, Context, Source, read_source
from pipeline.graphs.schema import schema_text
from pipeline.model.layers import entry_operator
from pipeline.problems.problem import Problem, TextError, nearest
from pipeline.query.database import Database
from pipeline.query.query import query, table
from pipeline.stages.schemas import buckets, entry_of, heads
from pipeline.stages.schemas import function as native
from pipeline.stages.set import asked, graph_label, namespace, unreadable

EXPORTED = ".pt2"  # what torch.export.save writes


# ---- operators


@table
def overloads(db: Database, bucket: str) -> dict[str, list[str]]:
    """The functions of each operator of a bucket, declared and generated, by `aten::add_`."""
    found: dict[str, list[str]] = {}
    for name, head in heads(db, bucket):
        namespace, separator, _ = entry_operator(entry_of(name)).partition("::")
        found.setdefault(f"{namespace if separator else 'aten'}::{head.unqualified}", []).append(name)
    return found


class _Ops:
    """The operators of the set, looked up one by one."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def overloads(self, name: str) -> list[Op]:
        listed = overloads.item(self._db, bucket_of(name), name) or []
        found = ((each, native(self._db, each)) for each in listed)
        return [Op(each, function) for each, function in found if function is not None]

    def near(self, name: str) -> str:
        listed = (each for bucket in self._db.names(buckets) for each in self._db.names(overloads, bucket))
        names = sorted(each.removeprefix("aten::") for each in listed)
        return nearest(name.removeprefix("aten::"), names)


# ---- files


def stem(file: str) -> str:
    """The name of a file's program: `held_out` of `held_out.py`, with nothing in it that C++ cannot name."""
    name = file.rpartition(".")[0]
    found = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in name)
    return f"_{found}" if found[:1].isdigit() else found


@query
def source(db: Database, file: str) -> Source:
    """The parts of a `.py` file."""
    data = _read(db, file)
    if data is None:
        return Source({}, {}, NOTHING, [])
    found = read_source(data)
    for mistake in found.mistakes:
        db.report(_problem(file, "", mistake.problem, mistake.hint, mistake.line, mistake.column))
    return found


@query
def context(db: Database, file: str) -> Context:
    """What every function of a `.py` file can name."""
    return source(db, file).context


@table
def texts(db: Database, file: str) -> dict[str, str]:
    """The text of each function of a `.py` file."""
    return source(db, file).functions


@query
def names(db: Database, file: str) -> list[str]:
    """The functions of a file; of a `.pt2` one, that goes by the file's own name."""
    if not is_exported(file):
        return db.names(texts, file)
    return [stem(file)] if _read(db, file) is not None else []


def _read(db: Database, file: str) -> bytes | None:
    """The bytes of a file; a problem where there are none."""
    data = db.input(graph_label(file))
    if data is None:
        why = unreadable(db).get(graph_label(file), "it is missing")
        db.report(Problem("graph", "", "", f"cannot be read: {why}", file=file))
    return data


def is_exported(file: str) -> bool:
    """Whether a file is a `.pt2`."""
    return file.endswith(EXPORTED)


@query
def graph(db: Database, file: str, name: str) -> Function | None:
    """A function of a file; None where it has mistakes."""
    if is_exported(file):
        found, mistakes = read_model(name, db.input(graph_label(file)) or b"", _Ops(db))
    else:
        text = texts.item(db, file, name)
        if text is None:
            return None
        found, mistakes = read_function(text, context(db, file), _Ops(db))
    for mistake in mistakes:
        db.report(problem_in(file, name, mistake))
    return found


@query
def lean(db: Database, file: str, name: str) -> Function | None:
    """The same, with what operators are made of in their place, where the graph says enough of its tensors."""
    function = graph(db, file, name)
    return None if function is None else decompose(function, _Ops(db))


def problem_in(file: str, name: str, mistake: TextError) -> Problem:
    """A mistake in a function, whose lines count from the function's own first line."""
    return _problem(file, name, mistake.problem, mistake.hint, mistake.line, mistake.column)


def _problem(file: str, name: str, problem: str, hint: str, line: int, column: int) -> Problem:
    return Problem("graph", name, name, problem, hint, line=line, column=column, file=file)


@query
def signature(db: Database, file: str, name: str) -> str:
    """The schema of the operator that a function becomes; without arguments where the function has mistakes."""
    found = graph(db, file, name)
    called = f"{namespace(db)}::{name}"
    return schema_text(called, found) if found is not None else f"{called}()"


@query
def program(db: Database, file: str) -> Program:
    """The functions of a file that are without mistakes."""
    found = (graph(db, file, name) for name in names(db, file))
    return Program(stem(file), file, tuple(function for function in found if function is not None))


@query
def lines(db: Database, file: str) -> dict[str, int]:
    """The line that each function of a file begins at."""
    return {} if is_exported(file) else source(db, file).lines


@query
def all_names(db: Database) -> list[tuple[str, str]]:
    """The functions of all files, each with its file; no two files or functions may go by one name."""
    stems: dict[str, str] = {}
    found: dict[str, str] = {}
    listed = []
    for file in asked(db).files:
        other = stems.setdefault(stem(file), file)
        if other != file:
            what = f"'{other}' and '{file}' would both be generated as graphs/{stem(file)}.cpp"
            db.report(Problem("graph", "", "", what, "rename one of them", file=file))
            continue
        for name in names(db, file):
            before = found.setdefault(name, file)
            if before == file:
                listed.append((file, name))
                continue
            what = f"the function '{name}' is in '{before}' already: both would be one operator"
            db.report(Problem("graph", name, name, what, "rename one of them", line=1, column=1, file=file))
    return listed


@query
def stage(db: Database) -> int:
    """All functions of all files."""
    return len([db.digest(graph, file, name) for file, name in all_names(db)])
