"""What earlier runs of `verify` found about the formulas of a build."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gradmill.problems.problem import Problem, SpecError
from gradmill.session.build import Build
from gradmill.session.paths import VERIFIED

if TYPE_CHECKING:
    from gradmill.extensions.verify.model import Code
    from gradmill.extensions.verify.run import Result, Settings

NOT_YET = "not verified yet"
# Of states: the first one is that of an entry.
_ORDER = ("wrong", "doubtful", NOT_YET, "not checked", "shared with torch", "verified")


class Known(NamedTuple):
    """The formulas of a build, and the verdicts that are remembered of them."""

    codes: list[Code]
    result: Result

    def states(self) -> dict[str, str]:
        """What is known of each Node and operator, as a line: `verified`, `wrong: …`, `doubtful: …`,
        `shared with torch: …`, `not checked: …`, `not verified yet`."""
        lines = self.lines()
        return {name: lines.get(code.subject.name, NOT_YET) for code in self.codes for name in code.names}

    def entry_states(self) -> dict[str, str]:
        """The same for each entry of derivatives.yaml: that of its Node which needs most attention."""
        states = self.states()
        pairs = [(code.subject.entry, states[code.subject.name]) for code in self.codes]
        return dict(sorted(pairs, key=lambda each: _ORDER.index(each[1].partition(":")[0]), reverse=True))

    def lines(self) -> dict[str, str]:
        """What is known of each Node that was verified."""
        from gradmill.extensions.verify.report import line_of

        return {code.subject.name: line_of(verdict, self.result.torch) for code, verdict in self.result.verdicts}

    def problems(self, build: Build) -> list[Problem]:
        """What is wrong or doubtful in the verdicts, without what is silenced."""
        from gradmill.extensions.verify.report import problems
        from gradmill.problems.catalog.verification import UNCHECKED
        from gradmill.session.silences import silenced_findings

        found = silenced_findings(build.db, list(problems(self.result)))
        return [each for each in found if each.rule != UNCHECKED]


def can_verify() -> bool:
    """Whether formulas can be verified here: on Linux, with a torch."""
    return sys.platform == "linux" and importlib.util.find_spec("torch") is not None


def verification(build: Build, entry: str) -> Callable[[], object]:
    """The verification of an entry of derivatives.yaml, as a function that another thread may call. SpecError for a
    release that cannot be verified."""
    from gradmill.extensions.verify.run import verify
    from gradmill.extensions.verify.subjects import codes

    own = [code for code in codes(build.db) if code.subject.entry == entry]
    return partial(verify, own, settings_of(build))


def settings_of(build: Build) -> Settings:
    """How `verify` checks the formulas of a build, whose stage `match` is up to date."""
    from gradmill.extensions.verify.run import Settings
    from gradmill.extensions.verify.subjects import helpers

    config, code = build.config, build.inputs.code.digest.hex()
    return Settings(
        Path(config.folder, VERIFIED), code, helpers(build.db), config.more["helpers"], config.more["python"]
    )


def deciding(build: Build) -> dict[str, str]:
    """What of the set decides the verdict on each Node's formulas, by Node. The stage `match` is up to date."""
    from gradmill.extensions.verify.run import using
    from gradmill.extensions.verify.subjects import codes, helpers
    from gradmill.query.memo import digest

    own, headers = list(codes(build.db)), helpers(build.db)
    suffix = digest(headers.encode()).hex()
    return {code.subject.name: code.digest + suffix * uses for code, uses in zip(own, using(own, headers))}


def known(build: Build) -> Known | None:
    """What is remembered. None if nothing ever was verified, the specs have errors, torch is missing, or the release
    cannot be verified."""
    if not os.path.exists(os.path.join(build.config.folder, VERIFIED)):
        return None
    from gradmill.extensions.verify.run import known_verdicts
    from gradmill.extensions.verify.subjects import codes

    root = build.stages.root("match")
    build.db.digest(*root)
    if build.problems_of([root]).failed:
        return None
    try:
        own = list(codes(build.db))
        return Known(own, known_verdicts(own, settings_of(build)))
    except SpecError:
        return None


def states_of(build: Build) -> dict[str, str]:
    """What is remembered of each Node and operator, as in `Known.states`."""
    found = known(build)
    return found.states() if found is not None else {}
