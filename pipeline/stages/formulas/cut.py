"""Formulas that YAML cuts off: what follows ` #` is a comment, and no part of the value. Part of the stage `infos`."""

from __future__ import annotations

import re

from pipeline.problems.problem import SpecError
from pipeline.query.database import Database
from pipeline.stages.specs import entries, texts

_BY_A_CUT = ("unclosed-bracket", "cut-off")
_END = 40  # characters at the end of a formula: enough to tell it from others


def explained(db: Database, entry: str, suspicion: SpecError) -> SpecError:
    """A suspicion about a formula; one about how it ends says so where a comment follows. The text of the file is
    looked at for such a one alone."""
    if suspicion.rule not in _BY_A_CUT:
        return suspicion
    end = suspicion.needle.rstrip().rpartition("\n")[2][-_END:]
    place = db.names(entries, "derivatives").index(entry)
    if re.search(rf"{re.escape(end)}[ \t]+#", texts(db, "derivatives")[place].text) is None:
        return suspicion
    problem = "the formula is cut off: ' #' begins a comment"
    return SpecError(problem, "put the formula in quotes", field=suspicion.field, needle=end, rule="cut-off")
