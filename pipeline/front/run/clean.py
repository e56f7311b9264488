"""`clean`: deletes the generated files that the set made, and leaves all others."""

from __future__ import annotations

import os
import sys
from functools import cached_property, partial

from pipeline.front.output.ownership import is_manifest, is_rule_for, nothing
from pipeline.front.run.build import Build
from pipeline.front.run.places import is_made_of, manifest_parts, records, wanted
from pipeline.io.files import remove_empty
from pipeline.problems.plain import lines
from pipeline.problems.problem import SpecError


class Cleaner:
    """Deletes generated files. A run must have recorded a file, or it must have the bytes that a run would write."""

    def __init__(self, build: Build) -> None:
        self._build = build

    def clean(self, task: str, name: str, *, dryrun: bool) -> list[str]:
        """Deletes the generated file called `name`, the manifest and the list of units if it is "", and its depfile;
        returns a line for each file that was not deleted."""
        own = self._build.paths
        path = self._build.path(name) if name else own.manifest
        paths = [path, f"{path}.d"] if not name or self._build.config.layout == "split" else [path]
        paths += [] if name else [own.units]
        paths = [each for each in paths if os.path.lexists(each)]
        problems = [(each, self._delete(task, each, name, dryrun=dryrun)) for each in paths]
        if "/" in name and paths and not dryrun:
            remove_empty(os.path.dirname(path))
        return [f"{each}: {problem}; it was not deleted" for each, problem in problems if problem]

    def finish(self) -> None:
        """Removes what was deleted from the record of the output folder."""
        record = self._build.outputs.record
        if record is not None:
            record.prune()

    def _delete(self, task: str, path: str, name: str, *, dryrun: bool) -> str:
        """Deletes a file; returns why it was not deleted, "" if it was."""
        if problem := self.refusal(path, name):
            return problem
        sys.stdout.write(lines([f"{task} - removing file '{path}'"]))
        try:
            if not dryrun:
                os.unlink(path)
        except OSError as error:
            return error.strerror or str(error)
        return ""

    def refusal(self, path: str, name: str = "") -> str:
        """Why a generated file called `name`, the manifest, the list of units, or a depfile may not be deleted; "" if
        it may."""
        build = self._build
        recorded = self._records.get(build.outputs.place(path), set())
        source = path.removesuffix(".d")
        by_head = is_rule_for(source) if path != source else partial(is_made_of, build, name) if name else is_manifest
        trusted = recorded or (not name and build.has_cache)

        def by_digest(digest: bytes) -> bool:
            return digest in recorded or self._wanted(path, name) == digest

        return build.outputs.refusal(path, by_head if trusted else nothing, by_digest, deletes=True)

    @cached_property
    def _records(self) -> dict[str, set[bytes]]:
        return records(self._build, own=True)

    @cached_property
    def _manifest(self) -> dict[str, bytes]:
        """The digests of the bytes that a run would write to the manifest, the list of units and depfiles, by path."""
        from pipeline.stages.manifest import units_digest

        build = self._build
        try:
            digests = {path: data.digest for path, data in manifest_parts(build).items()}
            return {**digests, build.paths.units: units_digest(build.db)}
        except SpecError:
            return {}

    def _wanted(self, path: str, name: str) -> bytes:
        """The digest of the bytes that a run would write."""
        if name and path == self._build.path(name):
            return wanted(self._build, name)
        return self._manifest.get(path, b"")
