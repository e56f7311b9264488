"""The steps that assemble files: `shard:<file>`, and the check of all templates before a file is written."""

from __future__ import annotations

import hashlib
import os
from typing import Any

import msgspec
from msgspec import Struct

from pipeline.build.engine import Build
from pipeline.build.files import read_file
from pipeline.build.step import Failed, Input, Outcome, Plain, Resolved
from pipeline.families.file import File
from pipeline.graph import reason, stage
from pipeline.model.artifact import digest, digest_of, encode
from pipeline.model.node_text import NodeText
from pipeline.model.places import Places
from pipeline.problems.problem import Problem, SpecError


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
        return [build.file(self.template_label, build.config.specs.templates[name])] if name else []

    @property
    def template_label(self) -> str:
        return f"templates/{self.file.template}"

    def resolve(self, build: Build) -> Resolved:
        specs = build.config.specs
        template = self.template_input(build)
        inputs = [
            build.code("pipeline.stages.shard"),
            Input("release", build.config.release.encode()),
            Input("comment", specs.template_comment.encode()),
            *template,
            Input("frame", digest(encode((self.file.constants, self.file.before, self.file.reopens)))),
        ]
        for hole, piece in build.slots(self.file, template).items():
            inputs.append(Input(hole, self._pieces(build, piece)))
        return Resolved(inputs)

    def _pieces(self, build: Build, piece: str) -> bytes:
        """The digest of one piece of all Nodes of the file. Once they are made, it follows from their common key."""
        name = f"{piece} in {self.file.name}"
        key = digest_of((build.emit_key, encode(self.file.nodes)))
        known = build.state.recall(name, key, bytes)
        if known is not None:
            return known
        digests = build.texts.digests(self.file.nodes, piece)
        found = digest(encode(digests))
        if all(digests):
            build.state.note(name, key, found)
        return found

    def ready(self, build: Build, resolved: Resolved) -> Resolved:
        """With the digests of the pieces and the Nodes' texts by name, which only a run needs."""
        nodes, texts = self.file.nodes, build.texts
        # Of all pieces: the template may yet change, and ask for others.
        digests = {f"={piece}": encode(texts.digests(nodes, piece)) for piece in self.file.slots.values()}
        return Resolved(resolved.inputs, {**texts.artifacts(nodes), **digests})

    def run(self, build: Build, resolved: Resolved, previous: Outcome) -> Outcome:
        data = read_template(build, self.file)
        for i, given in enumerate(resolved.inputs):  # the template may have changed since it was looked at
            if given.label == self.template_label and not build.config.specs.templates[self.file.template].member:
                resolved.inputs[i] = Input(given.label, digest(data))
        template = parse_template(build, self.file, data)
        made = stage("shard").run(
            self.file,
            template,
            build.config.specs.template_comment,
            {p: msgspec.msgpack.decode(resolved.loads[f"={p}"], type=list[bytes]) for p in self.file.slots.values()},
            self._taken(build, previous),
            lambda node, piece: build.load(resolved.loads[node], NodeText).pieces[piece],
            build.release,
        )
        found = build.write(self.path(build), made.data)
        return Outcome(
            {"places": build.store.put(Places(found, made.places))} if made.places else {},
            {
                "file": found,
                "sha256": hashlib.sha256(made.data).digest(),
                "size": len(made.data).to_bytes(8, "big"),
            },
        )

    def _taken(self, build: Build, previous: Outcome) -> dict[bytes, memoryview]:
        """Pieces by digest, from the file as the last run left it."""
        places = build.store.get(previous.artifacts.get("places", b""), Places)
        if places is None or build.stamps.digest(self.path(build)) != places.file:
            return {}
        try:
            data = read_file(self.path(build))
        except OSError:
            return {}
        if digest(data) != places.file:
            return {}
        view = memoryview(data)
        return {name: view[at : at + length] for name, (at, length) in places.pieces.items()}

    def present(self, build: Build, outcome: Outcome) -> bool:
        kept = all(build.store.has(name) for name in outcome.artifacts.values())
        return kept and build.stamps.digest(self.path(build)) == outcome.facts.get("file")


class TemplatesStep(Plain, Struct, frozen=True):
    """`_templates`: all templates can be read and filled, before any file is written."""

    shards: tuple[ShardStep, ...]

    name = "_templates"
    reusable = False

    def resolve(self, build: Build) -> Resolved:
        inputs = {i.label: i for step in self.shards for i in step.template_input(build)}
        return Resolved([build.code("pipeline.stages.shard"), *inputs.values()])

    def run(self, build: Build, resolved: Resolved, previous: Outcome) -> Outcome:
        problems: list[Problem] = []
        alike = {(step.file.template, *step.file.slots, step.file.reopens): step for step in self.shards}
        for step in alike.values():
            try:
                parse_template(build, step.file, read_template(build, step.file))
            except Failed as failed:
                problems += failed.problems
        if problems:
            raise Failed(problems)
        return Outcome(facts={"checked": b"yes"})

    def present(self, build: Build, outcome: Outcome) -> bool:
        return bool(outcome.facts)


def read_template(build: Build, file: File) -> bytes:
    """The bytes of a file's template."""
    if not file.template:
        return b""
    try:
        return build.config.specs.templates[file.template].read()
    except (OSError, KeyError) as error:
        raise Failed([template_problem(file, SpecError(f"cannot be read: {reason(error)}"))]) from error


def parse_template(build: Build, file: File, data: bytes) -> Any:
    """A file's template; Failed when it is no text or has holes that nothing fills."""
    try:
        return stage("shard").parse_template(data, file, build.release)
    except SpecError as error:
        raise Failed([template_problem(file, error)]) from error


def template_problem(file: File, error: SpecError) -> Problem:
    """A mistake in the template of `file`."""
    return Problem("template", -1, "", error.problem, error.hint, error.field, error.needle, file=file.template)
