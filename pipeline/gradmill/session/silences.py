"""Silences applied to the warnings of a build; and warnings about silences that are malformed or silence nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from gradmill.families.family import BackendFamily
from gradmill.families.rows import FAMILY_ROWS
from gradmill.families.table import FAMILIES
from gradmill.model.layers import entry_operator, listed
from gradmill.problems.catalog.verification import VERIFICATION
from gradmill.problems.problem import Problem, Role, nearest
from gradmill.query.database import Database
from gradmill.specs.layers.description import Ignore
from gradmill.specs.location import DESCRIPTION
from gradmill.specs.silences import Silence
from gradmill.specs.text import decode_text
from gradmill.specs.toml_text import place_in
from gradmill.stages.requested import families
from gradmill.stages.selection import is_selective
from gradmill.stages.set import asked_families, described, place_of_key, spec_label
from gradmill.stages.silences import BACKEND, all_silences
from gradmill.stages.spec_files import is_layered

MALFORMED, UNUSED = "malformed-silence", "unused-silence"


def silenced(db: Database, problems: list[Problem], *, entries: bool, everything: bool) -> list[Problem]:
    """The problems without the silenced warnings, and with warnings about the silences. `entries`: whether `problems`
    has all warnings about entries; `everything`: all warnings."""
    layers = described(db)
    comments, ignores = list(all_silences(db)), dict(enumerate(layers.description.ignore if layers is not None else ()))
    if not comments and not ignores:
        return problems
    faults = [fault for each in comments if (fault := _malformed(each)) is not None]
    valid = [each for each in comments if _malformed(each) is None]
    used: set[object] = set()
    left = []
    for problem in problems:
        entry = _line_of(db, problem) if problem.role in ("set", BACKEND) and valid else problem.entry
        by = [*(each for each in valid if _silences(each, problem, entry)), *_ignored_by(ignores, problem)]
        used.update(by)
        if not by:
            left.append(problem)
    if all(problem.warning for problem in problems):  # else some queries did not run
        backends = everything and not is_selective(db) and BACKEND in _backends(db)
        everything = everything and not (asked_families(db) or is_selective(db))  # what is left out may have a warning
        complete = {"set": everything, BACKEND: backends}
        faults += _unused_comments(db, valid, used, complete) if entries else []
        faults += _unused_ignores(db, ignores, used) if everything else []
    return [*left, *faults]


def silenced_findings(db: Database, findings: list[Problem]) -> list[Problem]:
    """What `verify` found, without the silenced warnings. What is wrong with silences is for `check` to report."""
    left = silenced(db, findings, entries=False, everything=False)
    return [problem for problem in left if problem.rule in VERIFICATION]


def _line_of(db: Database, problem: Problem) -> str:
    """The line of a problem of the description, or of a backend's file; "" for another file."""
    if problem.role == BACKEND:
        return str(problem.line)
    data = b"" if problem.file else db.input(spec_label(DESCRIPTION)) or b""
    return str(place_in(decode_text(data), problem.field, problem.needle)[0]) if data else ""


def _silences(silence: Silence, problem: Problem, entry: str) -> bool:
    at = (problem.role, entry, problem.rule)
    return problem.warning and bool(silence.entry) and at == (silence.role, silence.entry, silence.rule)


def _ignored_by(ignores: dict[int, Ignore], problem: Problem) -> list[int]:
    """The places of the description's silences that a warning falls under."""
    name = entry_operator(problem.entry) or problem.op
    return [
        place
        for place, ignore in ignores.items()
        if problem.warning and problem.rule == ignore.rule and (not ignore.entries or name in listed(ignore.entries))
    ]


def _malformed(silence: Silence) -> Problem | None:
    """The warning about a silence that has no effect; None if it is valid."""
    from gradmill.problems.catalog.table import RULES

    form = "write # gradmill: ignore RULE reason"
    if silence.rule not in RULES:
        what = f"no rule is called '{silence.rule}'" if silence.rule else "this names no rule"
        return _about(silence, what, nearest(silence.rule, RULES) or form, MALFORMED)
    if not silence.reason:
        return _about(silence, "this has no reason", form, MALFORMED)
    if not silence.entry and not is_layered(silence.key):  # a layer's entry may be for other releases
        return _about(silence, "this is on no entry", "write it into an entry, or right above one", MALFORMED)
    return None


def _about(silence: Silence, problem: str, hint: str, rule: str) -> Problem:
    file = silence.key if is_layered(silence.key) else ""
    about = Problem(silence.role, "", "", problem, hint, warning=True, file=file, rule=rule)
    return replace(about, fix=None, line=silence.line, column=silence.column)


def _backends(db: Database) -> set[Role]:
    """The roles of the backends' files that requested families are made of."""
    kinds = (FAMILIES[family] for family in families(db))
    return {kind.role for kind in kinds if isinstance(kind, BackendFamily)}


def _unused_comments(
    db: Database, silences: Iterable[Silence], used: set[object], complete: Mapping[Role, bool]
) -> Iterator[Problem]:
    """Warnings about comments that silence nothing. `complete`: whether all warnings of a role without entries are
    known."""
    reads = {"deprecated"} if any("deprecated" in FAMILY_ROWS[family].reads for family in families(db)) else set()
    for silence in silences:
        known = silence.rule not in VERIFICATION and (silence.role != "deprecated" or silence.role in reads)
        known = known and complete.get(silence.role, True)
        if silence.entry and known and silence not in used:
            of = "line" if silence.role in complete else "entry"
            what = f"this silences nothing: the {of} has no warning [{silence.rule}]"
            yield _about(silence, what, "remove it", UNUSED)


def _unused_ignores(db: Database, ignores: dict[int, Ignore], used: set[object]) -> Iterator[Problem]:
    for place in [place for place in ignores if place not in used and ignores[place].rule not in VERIFICATION]:
        what = f"this silences nothing: there is no warning [{ignores[place].rule}]"
        path = place_of_key(db, ("ignore", str(place), "rule"))
        yield Problem("set", "", "", what, "remove it", path, warning=True, rule=UNUSED)
