"""What a whole run leaves: the answer to the same command line while nothing has changed."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from pipeline.front.console.lines import left
from pipeline.front.run.build import Build
from pipeline.front.run.record import Made
from pipeline.front.settings.config import read_config
from pipeline.front.start.answer import NOTE, is_note, note, note_path
from pipeline.io.files import evidence, overwrite_file, read_file, stat_of
from pipeline.problems.problem import SpecError


def note_unchanged(build: Build, words: list[str]) -> None:
    """Notes what this run saw and left, where that is all there is to do."""
    last = build.record
    if last is None or not last.made.complete:
        return
    stats = dict(last.evidence.all())
    # A folder in which something is added may give another set: asked for before the set is looked for once more.
    graphs = [build.config.graphs.given] if build.config.graphs.given else []
    beside, now = (*build.config.specs.looked_for, *graphs, *sys.path), build.inputs.now()
    stats = {path: evidence(stat_of(path), now) for path in beside} | stats
    stats[build.paths.record] = stat_of(build.paths.record)
    with suppress(OSError, SpecError):
        if read_config(dict(word.split("=", 1) for word in words)) == build.config:
            overwrite_file(
                note_path(words), note(words, said(build, last.made), build.config.said + last.made.report, stats)
            )


def said(build: Build, made: Made) -> str:
    """What doit prints where nothing is to be done."""
    stages = [f"-- {stage}\n" for stage in build.stages.analysis]
    units = [left("emit", made.units, "unit")] if made.units else []
    files = [left("shard", len(made.files), "file")] if made.files else []
    return "".join((*stages, *units, *files, "-- manifest\n"))


def remove_notes(cache: str) -> None:
    """Removes the answers to command lines: the next run of each notes its own again."""
    with suppress(OSError):
        for name in os.listdir(cache):
            path = os.path.join(cache, name)
            if name.startswith(NOTE) and not os.path.islink(path) and is_note(read_file(path) or b""):
                os.unlink(path)
