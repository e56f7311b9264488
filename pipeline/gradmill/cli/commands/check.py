"""`gradmill check`: reports every error and warning of a spec set; `fix=1` first applies the certain fixes."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from gradmill.cli.commands.request import Request, print_report
from gradmill.problems.plain import line, lines
from gradmill.problems.problem import SpecError
from gradmill.session.fixes import apply_fixes
from gradmill.session.inputs import Inputs
from gradmill.session.paths import check_cache, stores_in
from gradmill.session.session import Session
from gradmill.session.settings.config import Config, read_config
from gradmill.session.settings.reader import Settings

_ROUNDS = 20  # of fixes: each round fixes only the first use of a name in a formula


def main(request: Request) -> int:
    """Reports the problems of a spec set on standard output. Generates no file. Keeps the results only in a cache that
    the set has or that is named, and only if no complete run has filled it."""
    if not request.names:
        return _check(request, None)
    sets = dict.fromkeys(_set_of(name, request.variables) for name in request.names)
    return max(_check(request, {**request.variables, "specs": specs}) for specs in sets)


def _set_of(name: str, variables: Mapping[str, str]) -> str:
    """The set that a file is part of: the one that is named, or one in the file's folder or above. SpecError if there
    is none."""
    if not os.path.isfile(name):
        raise SpecError(f"check: {name}: there is no such file", "write gradmill check [FILE …] [specs=SET]")
    path = os.path.realpath(name)
    folders = [variables["specs"]] if "specs" in variables else list(map(str, Path(path).parents))
    for folder in folders:
        try:
            config = read_config({**variables, "specs": folder})
        except SpecError as error:
            if getattr(error, "placed", ()):  # its description has an error
                return folder
            continue
        if path in map(os.path.realpath, Inputs(config).spec_paths()):
            return folder
    raise SpecError(f"check: {name}: this file is part of no spec set", "name the set: specs=SET")


def _check(request: Request, variables: Mapping[str, str] | None) -> int:
    config = request.config(variables, stream=sys.stdout)
    settings = request.settings() if variables is None else Settings(variables)
    keeps = _may_keep(config, named=settings.names("cache"))
    if not config.fix:
        return _report(config, request, keeps=keeps)
    left: list[str] = []
    for _ in range(_ROUNDS):
        with closing(Session.open(config)) as session:
            done, left = apply_fixes(session)
        sys.stderr.write(lines(done))
        if not done:
            break
        config = request.config(variables, stream=sys.stdout)
    sys.stderr.write(lines(left))
    return max(_report(config, request, keeps=keeps), int(bool(left)))


def _report(config: Config, request: Request, *, keeps: bool) -> int:
    with closing(Session.open(config)) as session:
        problems = session.problems(purity=True)
        clean = "" if request.options.get("quiet") else _clean(config)
        print_report(problems.report or clean, config.format, sys.stdout)
        if keeps:
            session.save_if_first()
    return int(problems.failed)


def _clean(config: Config) -> str:
    """The line that names the set, which may be another one than was meant; "" if reports are for machines."""
    name = "core, the included set" if config.specs.owner == "core" else config.specs.name
    return line(f"{name}: no problems") + "\n" if config.format == "text" else ""


def _may_keep(config: Config, *, named: bool) -> bool:
    """Whether the set has a cache, or one is named that does not belong to another set."""
    try:
        check_cache(config)
    except SpecError:
        return False
    return named or bool(stores_in(config.folder))
