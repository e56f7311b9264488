"""Reads graph files in this process, by the queries of the stage."""

from __future__ import annotations

from pathlib import Path

from gradmill.extensions.graphs.model import Constant, Float, Function, Int, Item, Many, Nothing, Ref, Value
from gradmill.extensions.graphs.plan import GraphPlan
from gradmill.extensions.graphs.queries import graphs, planned
from gradmill.problems.problem import Problem
from gradmill.session.session import Session
from gradmill.session.settings.config import read_config
from graphs.running import CACHE


class Reading:
    """The functions and problems of a file of graphs, with the operators of a set."""

    def __init__(self, path: Path, specs: str = "core", **more: str) -> None:
        self.path = path
        variables = {"specs": specs, "graphs": str(path), "cache": CACHE.name, "generated": f"{CACHE.name}/generated"}
        self.build = Session.open(read_config({**variables, **more}))
        db = self.build.db
        db.digest(graphs.stage)
        self.functions: dict[str, Function | None] = {
            name: graphs.graph(db, file, name) for file, name in graphs.all_names(db)
        }
        self.problems = [problem for _, problem in db.reports([(graphs.stage,)], Problem)]
        self.report = self.build.problems_of([(graphs.stage,)]).report

    def function(self, name: str) -> Function:
        """A function, which has no errors."""
        function = self.functions[name]
        assert function is not None, self.report
        return function

    def plan(self, name: str = "") -> GraphPlan:
        """The plan of a function, by default that of the file's name; what it knows of operators is kept."""
        plan = planned.plan(self.build.db, self.path.name, name or self.path.stem)
        assert plan is not None, self.report
        self.build.save()
        self.build.unlock()
        return plan

    def operators(self, name: str) -> list[str]:
        """The operators that a function calls, in order, by their names in torch."""
        return [call.op.replace("::", ".") for call in self.function(name).calls if not call.is_python]


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
