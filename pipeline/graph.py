"""The stages, wired: what each reads, what it writes, and which module does it.

`ANALYSIS` is the table of the stages up to `match`; `graph_output` has the steps that follow. Stage modules are
imported when a stage runs: a run with nothing to do pays for none of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from msgspec import Struct

from pipeline.build.engine import Build
from pipeline.build.step import Failed, Input, Outcome, Plain, Resolved, Step
from pipeline.model.artifact import Artifact, digest
from pipeline.model.functions import Functions
from pipeline.model.infos import Definitions, Foreach, Infos, Matches, Nodes
from pipeline.model.specs import SpecFile
from pipeline.problems import Problem
from pipeline.spec_set import ROLES, Location

Given = Mapping[str, Any]
Made = tuple[dict[str, Artifact], list[Problem]]

ARTIFACTS: dict[str, type[Artifact]] = {
    "native": SpecFile,
    "tags": SpecFile,
    "derivatives": SpecFile,
    "schemas": Functions,
    "definitions": Definitions,
    "infos": Infos,
    "foreach": Foreach,
    "matches": Matches,
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


class AnalysisStep(Plain, Struct, frozen=True):
    """One stage of the analysis, as a row of `ANALYSIS`."""

    name: str
    doc: str
    takes: tuple[Take, ...]
    make: Callable[[Build, Given, Given], Made]
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
        given = {what: build.load(name, ARTIFACTS[what]) for what, name in resolved.loads.items()}
        old = {what: build.store.get(name, ARTIFACTS[what]) for what, name in previous.artifacts.items()}
        artifacts, problems = self.make(build, given, old)
        build.report(problems)
        if any(build.config.strict or not p.warning for p in problems):
            raise Failed(problems)
        return Outcome({what: build.store.put(artifact) for what, artifact in artifacts.items()})

    def present(self, build: Build, outcome: Outcome) -> bool:
        return all_there(build, outcome)


def _schemas(build: Build, given: Given, old: Given) -> Made:
    made = stage("schemas").run(given["native"], given["tags"], build.release, old.get("schemas"))
    return {"schemas": made.functions}, made.problems


def _derivatives(build: Build, given: Given, old: Given) -> Made:
    made = stage("derivatives").run(given["derivatives"], build.release)
    return {"definitions": made.definitions}, made.problems


def _infos(build: Build, given: Given, old: Given) -> Made:
    made = stage("infos").run(given["definitions"], given["schemas"], build.release, old.get("infos"))
    return {"infos": made.infos}, made.problems


def _foreach(build: Build, given: Given, old: Given) -> Made:
    made = stage("foreach").run(given["schemas"], given["infos"], build.release, old.get("foreach"))
    return {"foreach": made.foreach}, made.problems


def _match(build: Build, given: Given, old: Given) -> Made:
    made = stage("match").run(given["schemas"], given["infos"], given["foreach"])
    return {"matches": made.matches, "nodes": made.nodes}, made.problems


_NATIVE = Take("specs", "native", by_meaning=True)
_TAGS = Take("specs", "tags", by_meaning=True)
_DERIVATIVES = Take("specs", "derivatives", by_meaning=True)
_SCHEMAS = Take("schemas", "schemas")
_DEFINITIONS = Take("derivatives", "definitions")
_INFOS = Take("infos", "infos")
_FOREACH = Take("foreach", "foreach")

ANALYSIS: tuple[Step, ...] = (
    SpecsStep(),
    AnalysisStep("schemas", "parse operator schemas, generate missing variants", (_NATIVE, _TAGS), _schemas),
    AnalysisStep("derivatives", "read the raw derivative definitions", (_DERIVATIVES,), _derivatives, warns=True),
    AnalysisStep("infos", "work out differentiability infos", (_DEFINITIONS, _SCHEMAS), _infos, warns=True),
    AnalysisStep("foreach", "synthesize infos of foreach functions", (_SCHEMAS, _INFOS), _foreach),
    AnalysisStep("match", "match every native function with its infos", (_SCHEMAS, _INFOS, _FOREACH), _match),
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
