"""The stages, wired: what each reads, what it writes, and which module does it.

`ANALYSIS` is the table of the stages up to `match`; `EmitStep` and `ShardStep` are the steps of one Node and of one
file. Stage modules are imported when a stage runs: a run with nothing to do pays for none of them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from msgspec import Struct

from pipeline.build.engine import Build
from pipeline.build.step import Failed, Input, Outcome, Resolved, Step
from pipeline.model.artifact import Artifact, digest, digest_of, encode
from pipeline.model.functions import Functions
from pipeline.model.infos import Definitions, Foreach, Infos, Matches, NodeRow, Nodes
from pipeline.model.node_text import NodeText
from pipeline.model.specs import SpecFile
from pipeline.outputs.file import File
from pipeline.problems import Problem, SpecError
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


def _stage(name: str) -> Any:
    return import_module(f"pipeline.stages.{name}")


class SpecsStep(Struct, frozen=True):
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
                problems.append(Problem(role, -1, "", f"cannot be read: {_reason(error)}"))
                continue
            if not location.member:
                resolved.inputs[i + 1] = Input(label(location), digest(data))
            old = previous.artifacts.get(role)
            read = _stage("specs").run(data, role, label(location), build.store.get(old, SpecFile) if old else None)
            problems += read.problems
            artifacts[role] = build.store.put(read.file)
            facts[role] = read.file.meaning()
        if problems:
            raise Failed(problems)
        return Outcome(artifacts, facts)

    def present(self, build: Build, outcome: Outcome) -> bool:
        return _all_there(build, outcome)


class Take(Struct, frozen=True):
    """An artifact that a stage reads. `by_meaning`: the stage's key has what the file says, not its text."""

    stage: str
    what: str
    by_meaning: bool = False


class AnalysisStep(Struct, frozen=True):
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
        return _all_there(build, outcome)


def _schemas(build: Build, given: Given, old: Given) -> Made:
    made = _stage("schemas").run(given["native"], given["tags"], build.release, old.get("schemas"))
    return {"schemas": made.functions}, made.problems


def _derivatives(build: Build, given: Given, old: Given) -> Made:
    made = _stage("derivatives").run(given["derivatives"], build.release)
    return {"definitions": made.definitions}, made.problems


def _infos(build: Build, given: Given, old: Given) -> Made:
    made = _stage("infos").run(given["definitions"], given["schemas"], build.release, old.get("infos"))
    return {"infos": made.infos}, made.problems


def _foreach(build: Build, given: Given, old: Given) -> Made:
    made = _stage("foreach").run(given["schemas"], given["infos"], build.release, old.get("foreach"))
    return {"foreach": made.foreach}, made.problems


def _match(build: Build, given: Given, old: Given) -> Made:
    made = _stage("match").run(given["schemas"], given["infos"], given["foreach"])
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


class EmitStep(Struct, frozen=True):
    """`emit:<Node>`: the C++ text of one Node. Its facts are the digests of the pieces."""

    row: NodeRow
    source: bytes  # the artifact that holds the info

    reusable = True

    @property
    def name(self) -> str:
        return f"emit:{self.row.node}"

    def resolve(self, build: Build) -> Resolved:
        return Resolved([*build.emit_makers, Input("node", self.row.node.encode()), Input("info", self.row.info)])

    def run(self, build: Build, resolved: Resolved, previous: Outcome) -> Outcome:
        row = self.row
        infos = build.load(self.source, Foreach).infos if row.synthesized else build.load(self.source, Infos)
        info = infos.info(infos.by_schema[row.schema][row.dispatch_key])
        try:
            text = _stage("emit").run(row.node, info, build.release)
        except SpecError as error:
            op = row.schema.partition("(")[0]
            problem = Problem("derivatives", row.entry, op, error.problem, error.hint, error.field, error.needle)
            raise Failed([problem]) from error
        pieces = {name: digest(piece.encode()) for name, piece in text.pieces.items()}
        return Outcome({"text": build.store.put(text, small=True)}, pieces)

    def present(self, build: Build, outcome: Outcome) -> bool:
        return build.store.has(outcome.artifacts["text"])


class ShardStep(Struct, frozen=True):
    """`shard:<file>`: one generated file, from a template and the pieces of its Nodes."""

    file: File

    reusable = False

    @property
    def name(self) -> str:
        return f"shard:{self.file.name}"

    def path(self, build: Build) -> str:
        return os.path.join(build.config.generated, self.file.name)

    def template_input(self, build: Build) -> list[Input]:
        """The template as an input, none for a file that needs none."""
        name = self.file.template
        return [build.file(f"templates/{name}", build.config.specs.templates[name])] if name else []

    def resolve(self, build: Build) -> Resolved:
        specs = build.config.specs
        template = self.template_input(build)
        nodes = [build.outcome(f"emit:{node}") for node in self.file.nodes]
        inputs = [
            build.code("pipeline.stages.shard"),
            Input("release", build.config.release.encode()),
            Input("comment", specs.template_comment.encode()),
            *template,
            Input("frame", digest(encode((self.file.constants, self.file.before, self.file.reopens)))),
        ]
        for hole, piece in build.slots(self.file, template).items():
            found = digest_of(outcome.facts.get(piece, b"") for outcome in nodes)
            inputs.append(Input(hole, found))
        loads = {n: o.artifacts.get("text", b"") for n, o in zip(self.file.nodes, nodes)}
        return Resolved(inputs, loads)

    def run(self, build: Build, resolved: Resolved, previous: Outcome) -> Outcome:
        stage = _stage("shard")
        data = read_template(build, self.file)
        try:
            template = stage.parse_template(data, self.file, build.release)
        except SpecError as error:
            raise Failed([template_problem(self.file, error)]) from error
        texts = [build.load(resolved.loads[node], NodeText).pieces for node in self.file.nodes]
        pieces = {p: [text[p] for text in texts] for h, p in self.file.slots.items() if h in template.names}
        pieces.update({p: [] for p in self.file.slots.values() if p not in pieces})
        text = stage.run(self.file, template, build.config.specs.template_comment, pieces, build.release)
        return Outcome(
            facts={
                "file": build.write(self.path(build), text),
                "sha256": hashlib.sha256(text).digest(),
                "size": len(text).to_bytes(8, "big"),
            }
        )

    def present(self, build: Build, outcome: Outcome) -> bool:
        return build.stamps.digest(self.path(build)) == outcome.facts.get("file")


class ManifestStep(Struct, frozen=True):
    """`manifest`: what was generated from what, and the depfiles."""

    shards: tuple[ShardStep, ...]

    name = "manifest"
    reusable = False

    def path(self, build: Build) -> str:
        return os.path.join(build.config.folder, "manifest.json")

    def resolve(self, build: Build) -> Resolved:
        config = build.config
        specs = build.outcome("specs").artifacts.get("derivatives", b"")
        nodes = build.outcome("match").artifacts.get("nodes", b"")
        files = [Input(step.file.name, build.outcome(step.name).facts.get("file", b"")) for step in self.shards]
        return Resolved(
            [
                build.code("pipeline.stages.manifest"),
                Input("settings", encode((config.specs.name, config.release, config.layout, config.generated))),
                Input("places", specs),
                Input("nodes", nodes),
                *(build.file(name, location) for name, location in config.specs.inputs()),
                *files,
            ],
            {"derivatives": specs, "nodes": nodes, **self._facts(build)},
        )

    def _facts(self, build: Build) -> dict[str, bytes]:
        outcomes = ((step.file.name, build.outcome(step.name)) for step in self.shards)
        return {f"{name} {fact}": found for name, outcome in outcomes for fact, found in outcome.facts.items()}

    def run(self, build: Build, resolved: Resolved, previous: Outcome) -> Outcome:
        stage = _stage("manifest")
        config = build.config
        inputs = {name: digest(location.read()) for name, location in config.specs.inputs()}
        text = stage.run(
            config.specs.name,
            config.release,
            config.layout,
            {**inputs, "gradmill": build.sources.tree},
            [step.file for step in self.shards],
            resolved.loads,
            build.load(resolved.loads["nodes"], Nodes).rows,
            build.load(resolved.loads["derivatives"], SpecFile),
        )
        files = self._files(build, stage, text)
        for path in build.recorded(self.name)[1].facts.keys() - files.keys():
            with suppress(OSError):  # of another layout
                os.unlink(path)
        return Outcome(facts={path: build.write(path, data) for path, data in files.items()})

    def present(self, build: Build, outcome: Outcome) -> bool:
        return bool(outcome.facts) and all(build.stamps.digest(path) == found for path, found in outcome.facts.items())

    def _files(self, build: Build, stage: Any, text: bytes) -> dict[str, bytes]:
        """The manifest and the depfiles. Upstream's layout has upstream's files and nothing else beside them."""
        path = self.path(build)
        inputs = [location.path for _, location in build.config.specs.inputs()] + build.sources.all_files(
            relative=not os.path.isabs(build.config.generated)
        )
        targets = [path]
        if build.config.layout != "upstream":
            targets += [step.path(build) for step in self.shards]
        return {path: text, **{f"{target}.d": stage.depfile(target, dict.fromkeys(inputs)) for target in targets}}


def emit_steps(build: Build) -> list[EmitStep]:
    """A step for every Node of the last match."""
    sources = {False: build.outcome("infos").artifacts["infos"], True: build.outcome("foreach").artifacts["foreach"]}
    return [EmitStep(row, sources[row.synthesized]) for row in nodes_of(build)]


def needed_to_emit(build: Build) -> list[bytes]:
    """The artifacts that Nodes are printed from: the others can be let go of."""
    wanted = (("infos", "infos"), ("foreach", "foreach"), ("match", "nodes"))
    return [build.outcome(stage).artifacts.get(what, b"") for stage, what in wanted]


def shard_steps(build: Build) -> list[ShardStep]:
    """A step for every generated file."""
    nodes = build.outcome("match").artifacts["nodes"]
    layout, shards = build.config.layout, build.config.shards
    key = digest_of((nodes, build.code("pipeline.stages.shard").digest, layout, str(shards)))
    files = build.state.remembered(
        "files", key, tuple[File, ...], lambda: _stage("shard").files(nodes_of(build), layout, shards)
    )
    return [ShardStep(file) for file in files]


def remove_orphans(build: Build, steps: Sequence[ShardStep]) -> None:
    """Removes files that earlier runs generated in this folder and that are no longer part of the output.

    A file that was changed since by somebody else is left alone.
    """
    current = {step.name for step in steps}
    for task in build.state.tasks():
        if task.startswith("shard:") and task not in current:
            name = task.removeprefix("shard:")
            path = os.path.join(build.config.generated, name)
            if build.stamps.digest(path) == build.recorded(task)[1].facts.get("file"):
                for orphan in (path, f"{path}.d"):
                    with suppress(OSError):
                        os.unlink(orphan)
            build.state.remove(task)


def nodes_of(build: Build) -> Sequence[NodeRow]:
    """The index of all Nodes that the last match made."""
    return build.load(build.outcome("match").artifacts["nodes"], Nodes).rows


def read_template(build: Build, file: File) -> bytes:
    """The bytes of a file's template."""
    if not file.template:
        return b""
    try:
        return build.config.specs.templates[file.template].read()
    except (OSError, KeyError) as error:
        raise Failed([template_problem(file, SpecError(f"cannot be read: {_reason(error)}"))]) from error


def template_problem(file: File, error: SpecError) -> Problem:
    return Problem("template", -1, "", error.problem, error.hint, error.field, error.needle, file=file.template)


def label(location: Location) -> str:
    """A file's name without its folder."""
    return os.path.basename(location.member or location.path)


def _all_there(build: Build, outcome: Outcome) -> bool:
    return bool(outcome.artifacts) and all(build.store.has(name) for name in outcome.artifacts.values())


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
