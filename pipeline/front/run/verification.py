"""What earlier runs of `verify` found about the formulas of a build."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.front.run.build import Build
from pipeline.front.run.paths import VERIFIED
from pipeline.problems.problem import SpecError

if TYPE_CHECKING:
    from pipeline.verify.run import Settings


NOT_YET = "not verified yet"


def settings_of(build: Build) -> Settings:
    """How `verify` checks the formulas of a build, whose stage `match` is up to date."""
    from pipeline.verify.run import Settings
    from pipeline.verify.subjects import helpers

    config, code = build.config, build.inputs.code.digest.hex()
    return Settings(Path(config.folder, VERIFIED), code, helpers(build.db), config.helpers, config.python)


def states(build: Build) -> dict[str, str]:
    """What is known of each Node and operator with formulas, as a line: `verified`, `wrong: …`, `doubtful: …`, `not
    checked: …`, `not verified yet`. Empty if no verdict is remembered, and if the specs have errors."""
    if not os.path.exists(os.path.join(build.config.folder, VERIFIED)):
        return {}
    from pipeline.verify.report import line_of
    from pipeline.verify.run import known_verdicts, names_of
    from pipeline.verify.subjects import codes

    root = build.stages.root("match")
    build.db.digest(*root)
    if build.problems_of([root]).failed:
        return {}
    try:
        own = list(codes(build.db))
        known = known_verdicts(own, settings_of(build))
    except SpecError:  # no torch, or a release that cannot be verified
        return {}
    lines = {code.subject.name: line_of(verdict, known.torch) for code, verdict in known.verdicts}
    return {name: lines.get(code.subject.name, NOT_YET) for code in own for name in names_of(code)}
