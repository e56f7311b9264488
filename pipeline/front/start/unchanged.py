"""The answer of a complete run to the same command line, as long as nothing has changed."""

from __future__ import annotations

import sys
from contextlib import suppress

from pipeline.front.console.lines import summary, up_to_date
from pipeline.front.run.answer import command_of
from pipeline.front.run.build import Build
from pipeline.front.run.record import Answer, Made
from pipeline.front.settings.config import read_config
from pipeline.front.settings.here import looked_for, notice, with_folder
from pipeline.io.files import evidence, stat_of
from pipeline.problems.problem import SpecError


def keep_answer(build: Build, words: list[str]) -> None:
    """Adds the answer to a plain command line to the record of its complete run. Other runs leave no answer."""
    last = build.record
    if last is None or not last.made.complete:
        return
    # A new file in one of these folders may change the set: take their stats before the set is resolved again.
    graphs = [build.config.graphs.root] if build.config.graphs.root else []
    here = () if any(word.startswith("specs=") for word in words) else looked_for()
    folders, now = (*build.config.specs.looked_for, *here, *graphs, *sys.path), build.inputs.now()
    stats = {path: evidence(stat_of(path), now) for path in folders}
    with suppress(SpecError):
        given = dict(word.split("=", 1) for word in words)
        if read_config(with_folder(given)) == build.config:
            warnings = notice(given) + build.config.release_warning + last.made.report
            out, error = (text.encode("utf-8", "surrogateescape") for text in (output_of(build, last.made), warnings))
            build.keep_answer(Answer(command_of(words), out, error, stats))


def output_of(build: Build, made: Made) -> str:
    """The standard output of doit when every task is up to date."""
    stages = [f"-- {stage}\n" for stage in build.stages.analysis]
    units = [up_to_date("emit", made.units, "unit")] if made.units else []
    files = [up_to_date("shard", len(made.files), "file")] if made.files else []
    end = [summary(sum(made.files.values()), build.config.generated, 0)] if made.files else []
    return "".join((*stages, *units, *files, "-- manifest\n", *end))
