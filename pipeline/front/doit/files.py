"""The tasks of generated files, and that of the manifest."""

from __future__ import annotations

import os
from collections.abc import Iterator

from pipeline.front.doit.effect import Effect
from pipeline.front.doit.work import Task, Work
from pipeline.front.output.outputs import Written


class FileTasks:
    """The tasks of the files of one run."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._prepared = False
        self._writing: dict[str, Effect] = {}  # by name, of the files to write
        self._has_manifest = False

    def tasks(self) -> Iterator[Task]:
        """A task for each generated file."""
        work, build = self._work, self._work.build
        if work.asked.running and work.stops:
            return
        names = build.file_names()
        work.check_names("shard", names)
        for name in names:
            look = lambda effect, name=name: self._look(name, effect)  # noqa: E731
            fields = {"name": name, "targets": [build.path(name)], "task_dep": work.needs("emit")}
            yield work.task(f"shard:{name}", f"assemble {name}", look, **fields)

    def manifest(self) -> Task | None:
        """The task of the manifest; None if the specs have errors that stop the run."""
        work = self._work
        if work.asked.running and work.stops:
            return None
        fields = {"targets": [work.build.paths.manifest, work.build.paths.units], "task_dep": work.needs("shard")}
        doc = "describe the generated files for other build systems"
        return work.task("manifest", doc, self._look_at_manifest, **fields)

    def _look(self, name: str, effect: Effect) -> bool:
        from pipeline.front.run.places import new_bytes

        effect.failure = self._work.errors()
        if effect.failure:
            return False
        self._prepare()
        data = new_bytes(self._work.build, name)
        if data is None:
            return not self._work.asked.always
        effect.path, effect.data = self._work.build.path(name), data
        if self._work.asked.running is not False:
            self._work.build.outputs.expect(effect.path, data.digest)
        self._writing[name] = effect
        return False

    def _look_at_manifest(self, effect: Effect) -> bool:
        from pipeline.front.run.places import manifest_is_there, write_manifest

        effect.failure = self._work.errors()
        if effect.failure:
            return False
        self._prepare()
        if self._work.asked.running is False:
            return manifest_is_there(self._work.build)
        wrote = write_manifest(self._work.build)
        self._has_manifest = True
        return not wrote

    def _prepare(self) -> None:
        """Before the first write: checks the places of the files and removes orphans. Does nothing for a listing."""
        if self._work.asked.running is not False and not self._prepared:
            from pipeline.front.run.orphans import remove_orphans
            from pipeline.front.run.places import check_places

            check_places(self._work.build)
            remove_orphans(self._work.build)
            self._prepared = True

    def are_current(self) -> bool:
        """Whether all files and the manifest are current when the run ends. Records the files that were written."""
        from pipeline.stages.shard import files

        build = self._work.build
        known = build.db.is_clean(files, *build.layout)  # else this run did not compute the list of files
        current = [self._note(name) for name in build.file_names()] if known else [False]
        return self._has_manifest and all(current)

    def _note(self, name: str) -> bool:
        """Records a file that this process or a worker may have written; returns whether the file is current."""
        from pipeline.stages.shard import made

        build, path = self._work.build, self._work.build.path(name)
        if not build.db.is_clean(made, *build.layout, name):
            return False
        wanted = made(build.db, *build.layout, name).xxh3
        written = self._writing[name].written if name in self._writing else None
        if written is not None:
            build.outputs.known[os.path.abspath(path)] = Written(written, wanted)
        return build.outputs.has_digest(path, wanted)
