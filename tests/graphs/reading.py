"""Reads graph files in this process, by the queries of the stage."""

from __future__ import annotations

from pathlib import Path

from gradmill.extensions.graphs.model import Constant, Float, Function, Int, Item, Many, Nothing, Ref, Value
from gradmill.extensions.graphs.queries import graphs
from gradmill.problems.problem import Problem
from gradmill.session.session import Session
from gradmill.session.settings.config import read_config


class Reading:
    """The functions and problems of a file of graphs, with the operators of a set."""

    def __init__(self, path: Path, cache: Path, specs: str = "core", **more: str) -> None:
        variables = {"specs": specs, "graphs": str(path), "cache": str(cache), "generated": str(cache / "generated")}
        self.build = Session.open(read_config({**variables, **more}))
        db = self.build.db
        db.digest(graphs.stage)
        self.functions: dict[str, Function | None] = {
            name: graphs.graph(db, file, name) for file, name in graphs.all_names(db)
        }
        self.problems = [problem for _, problem in db.reports([(graphs.stage,)], Problem)]
        self.report = self.build.problems_of([(graphs.stage,)]).report

    def operators(self, name: str) -> list[str]:
        """The operators that a function calls, in order, by their names in torch."""
        function = self.functions[name]
        assert function is not None, self.report
        return [call.op.replace("::", ".") for call in function.calls if not call.is_python]


def written(function: Function) -> list[str]:
    """A function's calls and its outputs, as text."""
    lines = []
    for call in function.calls:
        results = ", ".join(r.name if r.length is None else f"{r.name}[{r.length}]" for r in call.results)
        arguments = ", ".join(f"{name}={value(argument)}" for name, argument in call.arguments.items())
        lines.append(f"{results} = {call.op}({arguments}){'' if call.grad else ' without grad'}")
    return [*lines, f"return {', '.join(value(output.value) for output in function.outputs)}"]


def value(value_: Value) -> str:
    """A value as text."""
    if isinstance(value_, (Ref, Constant)):
        return value_.name
    if isinstance(value_, Item):
        return f"{value_.name}[{value_.index}]"
    if isinstance(value_, Many):
        return f"[{', '.join(map(value, value_.values))}]"
    if isinstance(value_, Nothing):
        return "None"
    return repr(value_.value) if isinstance(value_, (Int, Float)) else str(value_.value)
