"""What torchgen and gradmill say to one spec set, next to each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .builds import Result
from .campaign import Trial


class Verdict(NamedTuple):
    """What both say to one spec set. `wrong` is "" when they agree."""

    accepted: bool
    wrong: str
    detail: str = ""

    def trial(self, what: str) -> Trial:
        """Of a campaign. `what`: the set."""
        kind = self.wrong or ("accepted by both" if self.accepted else "refused by both")
        return Trial(kind, self.wrong and f"{self.wrong}\n  {self.detail.strip()[-1500:]}", what)


def compared(error: str, ours: Result, made: Mapping[str, bytes], expected: Mapping[str, bytes]) -> Verdict:
    """Compares torchgen's error, "" if it has none, and its files `expected` with our build and its files `made`."""
    if ours.crash:
        return Verdict(not error, "gradmill broke", ours.crash)
    if error:
        if ours.accepted:
            return Verdict(False, "gradmill accepts what torchgen refuses", error)
        return Verdict(False, "a refused set left files" if ours.files else "", ours.refusal)
    if not ours.accepted:
        return Verdict(True, "gradmill refuses what torchgen accepts", ours.refusal)
    unequal = sorted(name for name in {*expected, *made} if expected.get(name) != made.get(name))
    return Verdict(True, "the files differ" if unequal else "", ", ".join(unequal))
