"""`gradmill list`: the stages, units and files, with their state, also as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from gradmill.cli.commands.report import json_text
from gradmill.cli.commands.request import Request
from gradmill.doors import loaded
from gradmill.problems.plain import lines
from gradmill.session.selection import FILES, MANIFEST, UNITS, names_of
from gradmill.session.session import Progress, Session
from gradmill.session.units import At
from gradmill.session.units import units as units_of_build
from gradmill.stages.units import schemas_of

_TO_RUN, _CURRENT = "run", "up-to-date"
_GROUPS = {  # what is listed besides stages
    UNITS: "print the C++ of each unit",
    FILES: "assemble each generated file",
    MANIFEST: "describe the generated files and their inputs for other build systems",
}


class Listed(Struct, frozen=True, omit_defaults=True):
    """A stage, a unit, a generated file, or all units or all files."""

    name: str
    doc: str
    status: str = ""  # with --status
    target: str = ""  # the path of the file that it writes
    verification: str = ""  # with --status, what `verify` found about a Node: `verified`, `wrong: …`; "" if not known


def main(request: Request) -> int:
    """Lists what a run brings up to date; with `format=json` as one array."""
    options = request.options
    with request.open() as session:
        names = names_of(session, request.names)
        listed = _listed(session, inner=options["all"] or any(":" in name for name in names))
        shown = [each for each in listed if each.name in names] if names else listed
        if options["status"]:
            states = _states(session)
            known = (found for verified in loaded("states") for found in verified(session).items())
            found = {f"{UNITS}:{title}": state for title, state in known}
            shown = [
                replace(each, status=states.get(each.name, _TO_RUN), verification=found.get(each.name, ""))
                for each in shown
            ]
        as_json = session.config.format == "json"
        sys.stdout.write(json_text(shown).decode() if as_json else _text(shown, quiet=options["quiet"]))
    return 0


def _listed(session: Session, *, inner: bool) -> list[Listed]:
    """What there is, sorted by name; with `inner` each unit and file."""
    listed = [Listed(name, doc) for name, (doc, *_) in session.stages.analysis.items()]
    listed += [Listed(name, doc, target=session.paths.manifest * (name == MANIFEST)) for name, doc in _GROUPS.items()]
    if inner:
        named = units_of_build(session.db)
        docs = zip(named.items(), schemas_of(session.db, named.values()))
        units = ((f"{UNITS}:{title}", schema or unit.overload) for (title, (_, unit)), schema in docs)
        listed += [Listed(name, doc) for name, doc in units]
        files = session.file_names()
        listed += [Listed(f"{FILES}:{name}", f"assemble {name}", target=session.path(name)) for name in files]
    return sorted(listed, key=lambda each: each.name)


class _States(Progress):
    """What is not up to date, by name."""

    def __init__(self) -> None:
        self.current: set[str] = set()
        self.rebuilt: set[At] = set()

    def stage(self, name: str, *, current: bool) -> None:
        self.current |= {name} if current else set()

    def units(self, rebuilt: Sequence[At], current: int) -> None:
        self.rebuilt = set(rebuilt)
        self.current |= set() if rebuilt else {UNITS}

    def file(self, name: str, changed: int, count: int) -> None:
        self.current |= set() if changed else {f"{FILES}:{name}"}


def _states(session: Session) -> dict[str, str]:
    """The state of everything, by name. Nothing is written."""
    seen = _States()
    failed = session.update(write=False, progress=seen).failed
    current = seen.current
    if not failed:
        units = units_of_build(session.db).items()
        current |= {f"{UNITS}:{title}" for title, (own, unit) in units if (own, unit.name) not in seen.rebuilt}
        files = {f"{FILES}:{name}" for name in session.file_names()}
        current |= {FILES} if files <= current else set()
    return dict.fromkeys(current, _CURRENT)


def _text(listed: Sequence[Listed], *, quiet: bool) -> str:
    """A line for each: the letter of its state if known, its name, and its doc unless `quiet`."""
    width = max((len(each.name) for each in listed), default=0) + 3
    heads = [f"{each.status[0].upper()} " if each.status else "" for each in listed]
    ends = [f" ({each.verification})" if each.verification else "" for each in listed]
    return lines(
        f"{head}{each.name:<{width}}{'' if quiet else each.doc}{end}" for head, each, end in zip(heads, listed, ends)
    )
