"""Formulas that YAML cuts off: ` #` begins a comment, which is no part of the value. Part of the stage `infos`."""

from __future__ import annotations

from pipeline.problems.problem import SpecError
from pipeline.query.database import Database
from pipeline.stages.specs import entries, texts

_BY_A_CUT = ("unclosed-bracket", "cut-off")


def explained(db: Database, entry: str, suspicion: SpecError) -> SpecError:
    """A suspicion about a formula. If its end is suspicious and a comment follows, the comment is reported instead.
    Only then does the result depend on the text of the file."""
    if suspicion.rule not in _BY_A_CUT:
        return suspicion
    from pipeline.problems.locate import COMMENT, ends_in_comment  # reads YAML

    place = db.names(entries, "derivatives").index(entry)
    if not ends_in_comment(texts(db, "derivatives")[place].text, suspicion.field):
        return suspicion
    problem = "the formula is cut off: ' #' begins a comment"
    return SpecError(problem, "put the formula in quotes", field=suspicion.field, needle=COMMENT, rule="cut-off")
