"""The note of a complete run: the answer to the same command line as long as nothing has changed."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from pipeline.front.console.lines import left, summary
from pipeline.front.run.build import Build
from pipeline.front.run.record import Made
from pipeline.front.settings.config import read_config
from pipeline.front.settings.here import looked_for, notice, with_folder
from pipeline.front.start.answer import NOTE, is_note, note, note_path
from pipeline.io.files import evidence, put_file, read_file, stat_of
from pipeline.problems.problem import SpecError


def note_unchanged(build: Build, words: list[str]) -> None:
    """Writes the note of a complete run: its output and the stats of its files. Other runs leave no note."""
    last = build.record
    if last is None or not last.made.complete:
        return
    stats = dict(last.evidence.all())
    # A new file in one of these folders may change the set: take their stats before the set is resolved again.
    graphs = [build.config.graphs.root] if build.config.graphs.root else []
    here = () if any(word.startswith("specs=") for word in words) else looked_for()
    folders, now = (*build.config.specs.looked_for, *here, *graphs, *sys.path), build.inputs.now()
    stats = {path: evidence(stat_of(path), now) for path in folders} | stats
    stats[build.paths.record] = stat_of(build.paths.record)
    with suppress(OSError, SpecError):
        given = dict(word.split("=", 1) for word in words)
        if read_config(with_folder(given)) == build.config:
            warnings = notice(given) + build.config.release_warning + last.made.report
            put_file(note_path(words), note(words, output_of(build, last.made), warnings, stats))


def output_of(build: Build, made: Made) -> str:
    """The standard output of doit when every task is up to date."""
    stages = [f"-- {stage}\n" for stage in build.stages.analysis]
    units = [left("emit", made.units, "unit")] if made.units else []
    files = [left("shard", len(made.files), "file")] if made.files else []
    end = [summary(len(made.files), build.config.generated, 0)] if made.files else []
    return "".join((*stages, *units, *files, "-- manifest\n", *end))


def remove_notes(cache: str) -> None:
    """Removes all notes from the folder `cache`; the next run of each command line writes its note again."""
    with suppress(OSError):
        for name in os.listdir(cache):
            path = os.path.join(cache, name)
            if name.startswith(NOTE) and not os.path.islink(path) and is_note(read_file(path) or b""):
                os.unlink(path)
