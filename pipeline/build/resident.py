"""A build that stays in memory: brings everything up to date again and again, without doit in between.

It leaves the same state as doit would, so that a later run finds its work done.
"""

from __future__ import annotations

from msgspec import Struct

from pipeline.build.engine import Build
from pipeline.build.step import Step
from pipeline.graph import ANALYSIS, ARTIFACTS, stage
from pipeline.graph_output import ManifestStep, emit_steps, shard_steps
from pipeline.graph_shard import TemplatesStep, parse_template, read_template
from pipeline.model.places import Places


class Updated(Struct, frozen=True):
    """What one pass did: the steps that ran, and the files that were written."""

    ran: tuple[str, ...]
    written: tuple[str, ...]


class Resident:
    """One build, kept up to date."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._after: ManifestStep | None = None

    def update(self) -> Updated:
        """Runs every step that has work; Failed when the specs have mistakes, with nothing written."""
        build = self._build
        ran = [step.name for step in ANALYSIS if self._bring(step)]
        for step in emit_steps(build, build.texts.unknown()):
            ran += [step.name] if self._bring(step) else []
        written = []
        shards = shard_steps(build)
        self._bring(TemplatesStep(tuple(shards)))
        for shard in shards:
            before = build.stamps.digest(shard.path(build))
            if self._bring(shard):
                ran.append(shard.name)
                written += [shard.file.name] if build.outcome(shard.name).facts["file"] != before else []
        self._after = ManifestStep(tuple(shards))
        return Updated(tuple(ran), tuple(written))

    def warm(self) -> None:
        """Imports and reads what an edit will need, so that the first one does not wait for it."""
        build = self._build
        for step in ANALYSIS:
            stage(step.name)
            for what, name in build.outcome(step.name).artifacts.items():
                build.store.get(name, ARTIFACTS[what])
        for emit in emit_steps(build)[:1]:
            emit.run(build, emit.resolve(build), build.outcome(emit.name))
        for shard in shard_steps(build):
            parse_template(build, shard.file, read_template(build, shard.file))
            build.store.get(build.outcome(shard.name).artifacts.get("places", b""), Places)

    def save(self) -> None:
        """Writes the manifest and the state; apart from `update`, as nobody waits for them."""
        if self._after is not None:
            self._bring(self._after)
            self._build.texts.note()
        self._build.state.dump()

    def _bring(self, step: Step) -> bool:
        """Brings a step up to date; says whether it ran."""
        build = self._build
        resolved = step.resolve(build)
        if build.is_current(step, resolved, build.state.get(step.name, "_values_:") or {}):
            return False
        build.state.set(step.name, "_values_:", build.execute(step, step.ready(build, resolved)))
        return True
