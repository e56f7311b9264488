"""The steps of the output but the files: one a Node, the manifest; and which steps there are.

They follow `match`, whose index of Nodes says which there are.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from msgspec import Struct

from pipeline.build.engine import Build
from pipeline.build.files import remove_abandoned
from pipeline.build.step import Failed, Input, Outcome, Plain, Resolved
from pipeline.families.file import File
from pipeline.graph import ANALYSIS, stage
from pipeline.graph_shard import ShardStep
from pipeline.model.artifact import digest, digest_of, encode
from pipeline.model.infos import Foreach, Infos, NodeRow, Nodes
from pipeline.model.specs import SpecFile
from pipeline.problems.problem import Problem, SpecError


class EmitStep(Plain, Struct, frozen=True):
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
            text = stage("emit").run(row.node, info, build.release)
        except SpecError as error:
            op = row.schema.partition("(")[0]
            problem = Problem("derivatives", row.entry, op, error.problem, error.hint, error.field, error.needle)
            raise Failed([problem]) from error
        pieces = {name: digest(piece.encode()) for name, piece in text.pieces.items()}
        return Outcome({"text": build.store.put(text, small=True)}, pieces)

    def present(self, build: Build, outcome: Outcome) -> bool:
        return build.store.has(outcome.artifacts["text"])


class ManifestStep(Plain, Struct, frozen=True):
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
                Input("gradmill", own_code(build)),
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
        config = build.config
        inputs = {name: digest(location.read()) for name, location in config.specs.inputs()}
        text = stage("manifest").run(
            config.specs.name,
            config.release,
            config.layout,
            {**inputs, "gradmill": own_code(build)},
            [step.file for step in self.shards],
            resolved.loads,
            build.load(resolved.loads["nodes"], Nodes).rows,
            build.load(resolved.loads["derivatives"], SpecFile),
        )
        files = self._files(build, text)
        for path in build.recorded(self.name)[1].facts.keys() - files.keys():
            with suppress(OSError):  # of another layout
                os.unlink(path)
        return Outcome(facts={path: build.write(path, data) for path, data in files.items()})

    def present(self, build: Build, outcome: Outcome) -> bool:
        return bool(outcome.facts) and all(build.stamps.digest(path) == found for path, found in outcome.facts.items())

    def _files(self, build: Build, text: bytes) -> dict[str, bytes]:
        """The manifest and the depfiles. Upstream's layout has upstream's files and nothing else beside them."""
        depfile = stage("manifest").depfile
        path = self.path(build)
        absolute = os.path.isabs(build.config.generated)
        specs = [location.path for _, location in build.config.specs.inputs()]
        specs += [build.config.specs.version_file] if build.config.specs.version_file else []
        inputs = [
            *(map(os.path.abspath, specs) if absolute else specs),
            *build.sources.all_files(relative=not absolute),
        ]
        targets = [path]
        if build.config.layout != "upstream":
            targets += [step.path(build) for step in self.shards]
        return {path: text, **{f"{target}.d": depfile(target, dict.fromkeys(inputs)) for target in targets}}


def own_code(build: Build) -> bytes:
    """The digest of all code that output depends on."""
    stages = ["manifest", "emit", "shard", *(step.name for step in ANALYSIS)]
    return build.sources.reached_from(*(f"pipeline.stages.{name}" for name in stages))


def emit_steps(build: Build, rows: Sequence[NodeRow] | None = None) -> list[EmitStep]:
    """A step for every Node of the last match, or for some of them."""
    sources = {False: build.outcome("infos").artifacts["infos"], True: build.outcome("foreach").artifacts["foreach"]}
    return [EmitStep(row, sources[row.synthesized]) for row in (nodes_of(build) if rows is None else rows)]


def needed_to_emit(build: Build) -> list[bytes]:
    """The artifacts that Nodes are printed from: the others can be let go of."""
    wanted = (("infos", "infos"), ("foreach", "foreach"), ("match", "nodes"))
    return [build.outcome(stage).artifacts.get(what, b"") for stage, what in wanted]


def shard_steps(build: Build) -> list[ShardStep]:
    """A step for every generated file."""
    names = build.outcome("match").facts.get("names", b"")
    layout, shards = build.config.layout, build.config.shards
    key = digest_of((names, build.code("pipeline.stages.shard").digest, layout, str(shards)))
    files = build.state.remembered(
        "files", key, tuple[File, ...], lambda: stage("shard").files(nodes_of(build), layout, shards)
    )
    return [ShardStep(file) for file in files]


def remove_orphans(build: Build, steps: Sequence[ShardStep]) -> None:
    """Removes files that earlier runs generated in this folder and that are no longer part of the output.

    A file that was changed since by somebody else is left alone. What killed runs left half-written goes too.
    """
    current = {step.name for step in steps}
    remove_abandoned(build.config.generated, [f"{step.file.name}{end}" for step in steps for end in ("", ".d")])
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
