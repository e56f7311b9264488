"""The queries about formulas that YAML cuts off. Part of the stage `infos`."""

from __future__ import annotations

from gradmill.lints import cut
from gradmill.problems.problem import SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import query
from gradmill.stages.specs import entries, texts, title, value


def explained(db: Database, entry: str, suspicion: SpecError) -> SpecError:
    """A suspicion about a formula. If its end is suspicious and a comment follows, the comment is reported instead.
    Only then does the result depend on the text of the file."""
    if suspicion.rule not in cut.BY_A_CUT:
        return suspicion
    place = db.names(entries, "derivatives").index(entry)
    return cut.cut_off(texts(db, "derivatives")[place].text, suspicion)


@query
def reading_on(db: Database) -> None:
    """Reports comments after formulas that are complete without them, but read as their continuation."""
    for entry, piece in zip(db.names(entries, "derivatives"), texts(db, "derivatives")):
        raw = value(db, "derivatives", entry) if cut.may_go_on(piece.text) else None
        for error in cut.reading_on(piece.text, raw) if raw is not None else ():
            db.report(problem_of(error, "derivatives", entry, title(raw, "name"), warning=True))
