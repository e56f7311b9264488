"""The stages, wired: what each reads, what it writes, and which module does it.

`ANALYSIS` is the table of the stages up to `match`; `graph_output` and `graph_shard` have the steps that follow. Stage
modules are imported when a stage runs: a run with nothing to do pays for none of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from msgspec import Struct

from pipeline.build.engine import Build
from pipeline.build.step import Failed, Input, Outcome, Plain, Resolved, Step
from pipeline.model.artifact import Artifact, digest
from pipeline.model.functions import Bodies, Functions, FunctionTable
from pipeline.model.infos import (
    Definitions,
    Dependents,
    Foreach,
    Infos,
    Nodes,
    Pairs,
    References,
    Rewritten,
    Targets,
)
from pipeline.model.specs import SpecFile
from pipeline.problems.problem import Problem
from pipeline.specs.spec_set import ROLES, Location

ARTIFACTS: dict[str, type[Artifact]] = {
    "native": SpecFile,
    "tags": SpecFile,
    "derivatives": SpecFile,
    "schemas": Functions,
    "bodies": Bodies,
    "definitions": Definitions,
    "targets": Targets,
    "infos": Infos,
    "references": References,
    "foreach": Foreach,
    "pairs": Pairs,
    "dependents": Dependents,
    "rewritten": Rewritten,
    "nodes": Nodes,
}


def stage(name: str) -> Any:
    """The module of a stage."""
    return import_module(f"pipeline.stages.{name}")


class SpecsStep(Plain, Struct, frozen=True):
    """`specs`: the YAML files to raw entries. Its facts are what the files say, comments and places left out."""

    name: str = "specs"
    doc: str = "read the YAML files into raw entries"
    reusable: bool = True

    def resolve(self, build: Build) -> Resolved:
        files = build.config.specs.files
        return Resolved([build.code("pipeline.stages.specs"), *(build.file(label(files[r]), files[r]) for r in ROLES)])

    def run(self, build: Build, resolved: Resolved, previous: Outcome) -> Outcome:
        artifacts: dict[str, bytes] = {}
        facts: dict[str, bytes] = {}
        problems: list[Problem] = []
        before = build.recorded(self.name)[0] if previous.artifacts else []
        for i, role in enumerate(ROLES):
            location = build.config.specs.files[role]
            if resolved.inputs[i + 1] in before and build.store.has(previous.artifacts[role]):
                artifacts[role], facts[role] = previous.artifacts[role], previous.facts[role]
                continue
            try:
                data = location.read()
            except (OSError, KeyError) as error:
                problems.append(Problem(role, -1, "", f"cannot be read: {reason(error)}"))
                continue
            if not location.member:
                resolved.inputs[i + 1] = Input(label(location), digest(data))
            old = previous.artifacts.get(role)
            read = stage("specs").run(data, role, label(location), build.store.get(old, SpecFile) if old else None)
            problems += read.problems
            artifacts[role] = build.store.put(read.file)
            facts[role] = read.file.meaning()
        if problems:
            raise Failed(problems)
        return Outcome(artifacts, facts)

    def present(self, build: Build, outcome: Outcome) -> bool:
        return all_there(build, outcome)


class Take(Struct, frozen=True):
    """An artifact that a stage reads. `by_meaning`: the stage's key has what the file says, not its text."""

    stage: str
    what: str
    by_meaning: bool = False


class Work:
    """What a stage works on: its inputs and what its last run left, decoded when asked for."""

    def __init__(self, build: Build, loads: Mapping[str, bytes], previous: Outcome) -> None:
        self._build = build
        self._loads = loads
        self._previous = previous
        self.release = build.release

    def given(self, what: str) -> Any:
        """An input; Missing when it is damaged or gone."""
        return self._build.load(self._loads[what], ARTIFACTS[what])

    def functions(self) -> FunctionTable:
        """All functions, as an input."""
        return FunctionTable(self._loads["schemas"], lambda: self.given("schemas"), lambda: self.given("bodies"))

    def old(self, what: str) -> Any:
        """What the last run made of `what`; None when there is none."""
        name = self._previous.artifacts.get(what)
        return self._build.store.get(name, ARTIFACTS[what]) if name is not None else None

    def kept(self, key: bytes, *names: str) -> dict[str, bytes] | None:
        """The artifacts called `names`, if the last run made them, and from the same `key`."""
        found = {what: self._previous.artifacts.get(what, b"") for what in names}
        same = self._previous.facts.get(_key_of(names)) == key
        return found if same and all(map(self._build.store.has, found.values())) else None


def _key_of(names: Iterable[str]) -> str:
    """The fact that says what artifacts were made from."""
    return f"key of {', '.join(names)}"


class Made(NamedTuple):
    """What a stage made: artifacts, or the names of those it kept; the mistakes it found; facts."""

    artifacts: dict[str, Artifact | bytes]
    problems: list[Problem]
    facts: dict[str, bytes] = {}


class AnalysisStep(Plain, Struct, frozen=True):
    """One stage of the analysis, as a row of `ANALYSIS`."""

    name: str
    doc: str
    takes: tuple[Take, ...]
    make: Callable[[Work], Made]
    warns: bool = False  # whether strict=1 may make it fail
    reusable: bool = True

    def resolve(self, build: Build) -> Resolved:
        inputs = [build.code(f"pipeline.stages.{self.name}"), Input("release", build.config.release.encode())]
        if self.warns:
            inputs.append(Input("strict", bytes([build.config.strict])))
        loads = {}
        for take in self.takes:
            outcome = build.outcome(take.stage)
            loads[take.what] = outcome.artifacts.get(take.what, b"")
            inputs.append(Input(take.what, outcome.facts[take.what] if take.by_meaning else loads[take.what]))
        return Resolved(inputs, loads)

    def run(self, build: Build, resolved: Resolved, previous: Outcome) -> Outcome:
        made = self.make(Work(build, resolved.loads, previous))
        build.report(made.problems)
        if any(build.config.strict or not p.warning for p in made.problems):
            raise Failed(made.problems)
        named = {what: a if isinstance(a, bytes) else build.store.put(a) for what, a in made.artifacts.items()}
        return Outcome(named, made.facts)

    def present(self, build: Build, outcome: Outcome) -> bool:
        return all_there(build, outcome)


def _schemas(work: Work) -> Made:
    functions, bodies = work.old("schemas"), work.old("bodies")
    old = FunctionTable(b"", lambda: functions, lambda: bodies) if functions and bodies else None
    made = stage("schemas").run(work.given("native"), work.given("tags"), work.release, old)
    return Made({"schemas": made.functions, "bodies": made.bodies}, made.problems)


def _derivatives(work: Work) -> Made:
    made = stage("derivatives").run(work.given("derivatives"), work.release, work.old("definitions"))
    return Made({"definitions": made.definitions}, made.problems)


def _infos(work: Work) -> Made:
    infos, definitions, functions = stage("infos"), work.given("definitions"), work.functions()
    key = infos.targets_key(definitions, functions)
    kept = work.kept(key, "targets")
    found = infos.Found(work.old("targets"), []) if kept else infos.find_targets(definitions, functions.all)
    made = infos.run(definitions, found.targets, functions, work.release, work.old("infos"))
    artifacts = {"infos": made.infos, **(kept or {"targets": found.targets})}
    return Made(artifacts, found.problems + made.problems, {_key_of(["targets"]): key})


def _foreach(work: Work) -> Made:
    foreach, infos, functions = stage("foreach"), work.given("infos"), work.functions()
    key = foreach.references_key(functions, infos)
    kept = work.kept(key, "references")
    references = work.old("references") if kept else foreach.find_references(functions, infos, work.release)
    made = foreach.run(references, infos, functions, work.release, work.old("foreach"))
    artifacts = {"foreach": made.foreach, **(kept or {"references": references})}
    return Made(artifacts, made.problems, {_key_of(["references"]): key})


def _match(work: Work) -> Made:
    match, infos, foreach, functions = stage("match"), work.given("infos"), work.given("foreach"), work.functions()
    key = match.pairs_key(functions, infos, foreach)
    paired: dict[str, Any] | None = work.kept(key, "pairs", "dependents")
    if paired is None:
        paired = match.find_pairs(functions.all, infos, foreach)._asdict()
        dependents = paired["dependents"]
    else:
        dependents = work.old("dependents")
    made = match.rewrite(dependents, infos, foreach, work.old("rewritten"))
    nodes = match.nodes(infos, foreach)
    artifacts = {"rewritten": made.rewritten, "nodes": nodes, **paired}
    return Made(artifacts, made.problems, {_key_of(["pairs", "dependents"]): key, "names": nodes.names()})


_NATIVE = Take("specs", "native", by_meaning=True)
_TAGS = Take("specs", "tags", by_meaning=True)
_DERIVATIVES = Take("specs", "derivatives", by_meaning=True)
_SCHEMAS = Take("schemas", "schemas")
_BODIES = Take("schemas", "bodies")
_DEFINITIONS = Take("derivatives", "definitions")
_INFOS = Take("infos", "infos")
_FOREACH = Take("foreach", "foreach")

ANALYSIS: tuple[Step, ...] = (
    SpecsStep(),
    AnalysisStep("schemas", "parse operator schemas, generate missing variants", (_NATIVE, _TAGS), _schemas),
    AnalysisStep("derivatives", "read the raw derivative definitions", (_DERIVATIVES,), _derivatives, warns=True),
    AnalysisStep("infos", "work out differentiability infos", (_DEFINITIONS, _SCHEMAS, _BODIES), _infos, warns=True),
    AnalysisStep("foreach", "synthesize infos of foreach functions", (_SCHEMAS, _BODIES, _INFOS), _foreach),
    AnalysisStep("match", "match every native function with its infos", (_SCHEMAS, _INFOS, _FOREACH), _match),
)


def functions_of(build: Build) -> FunctionTable:
    """All functions that the last run of `schemas` made."""
    made = build.outcome("schemas").artifacts
    return FunctionTable(
        made["schemas"], lambda: build.load(made["schemas"], Functions), lambda: build.load(made["bodies"], Bodies)
    )


def label(location: Location) -> str:
    """A file's name without its folder."""
    return os.path.basename(location.member or location.path)


def all_there(build: Build, outcome: Outcome) -> bool:
    """Whether every artifact of an outcome is in the store."""
    return bool(outcome.artifacts) and all(build.store.has(name) for name in outcome.artifacts.values())


def reason(error: Exception) -> str:
    """Why a file could not be read."""
    return str(getattr(error, "strerror", None) or error)
