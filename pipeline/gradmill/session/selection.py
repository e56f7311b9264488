"""What the names of a command line select: stages, units, files; patterns of them; paths of generated files."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Sequence

from gradmill.families.file import ANY
from gradmill.problems.problem import SpecError, nearest
from gradmill.session.session import EVERYTHING, Selection, Session
from gradmill.session.settings.variables import NEAR
from gradmill.session.units import At
from gradmill.session.units import units as units_of_build
from gradmill.stages.requested import families

_ALL = "gradmill list --all lists the stages, units and files"
_COMMANDS = "gradmill help lists the commands, gradmill list --all the stages, units and files"
UNITS, FILES, MANIFEST = "emit", "shard", "manifest"  # the names of all units, of all files, and of the manifest
GROUPS = (f"{UNITS}:", f"{FILES}:")  # what the names of units and files begin with


def all_names(session: Session) -> list[str]:
    """The names of everything: stages, groups, units, files. Brings the stages up to date."""
    units = (f"{UNITS}:{title}" for title in units_of_build(session.db))
    files = (f"{FILES}:{name}" for name in session.file_names())
    return [*session.stages.analysis, UNITS, FILES, MANIFEST, *units, *files]


def names_of(session: Session, words: Iterable[str], commands: Sequence[str] = ()) -> list[str]:
    """The names that words stand for: patterns are replaced by what they match, paths by the files there. SpecError for
    a word that stands for nothing; the first may be a misspelt one of `commands`. If the specs have errors, no unit is
    known: then the stages, which report them."""
    few = [*session.stages.analysis, UNITS, FILES, MANIFEST]
    selected: dict[str, None] = {}
    known: list[str] = []
    for number, given in enumerate(words):
        word = _without_path(session, given)
        if word in few:
            selected[word] = None
            continue
        if not word.startswith(GROUPS) and "*" not in word:
            raise _no_such_name(word, few, () if number else commands)
        if session.fails(session.stages.before_units()):
            return list(session.stages.analysis)
        known = known or all_names(session)
        family = word.removeprefix(f"{UNITS}:")
        if "*" in word:
            selected |= dict.fromkeys(_matching(word, known))
        elif word in known:
            selected[word] = None
        elif word != family and family in families(session.db):
            units = units_of_build(session.db).items()
            selected |= dict.fromkeys(f"{UNITS}:{title}" for title, (own, _) in units if own == family)
        else:
            raise _no_such_name(word, known)
    return [name for name in selected if (group := name.partition(":")[0]) == name or group not in selected]


def _without_path(session: Session, word: str) -> str:
    """The name of the file at the path `word`; another word itself."""
    if word.startswith(GROUPS) or "*" in word or not ("/" in word or "." in word):
        return word
    path, folder = os.path.abspath(word), os.path.join(os.path.abspath(session.config.generated), "")
    if path in map(os.path.abspath, (session.paths.manifest, session.paths.units)):
        return MANIFEST
    if not path.startswith(folder):
        return word
    name = path.removeprefix(folder)
    if session.fails(session.stages.before_units()):
        return f"{FILES}:{name}"
    names = session.file_names()
    if name not in names and any(ANY in each for each in names):
        name = session.written_files().get(name, (name,))[0]
    return f"{FILES}:{name}"


def selection_of(session: Session, names: Sequence[str]) -> Selection:
    """The selection of some names of `names_of`, with all that they need; everything without names."""
    if not names or MANIFEST in names:
        return EVERYTHING
    stages = [name for name in names if name in session.stages.analysis]
    files = [name.removeprefix(f"{FILES}:") for name in names if name.startswith(f"{FILES}:")]
    if FILES in names or files:
        return Selection(None, None, None if FILES in names else files)
    if UNITS in names:
        return Selection(None, None)
    units = units_of(session, names)
    return Selection(None if units else session.stages.closure(stages), units)


def units_of(session: Session, names: Iterable[str]) -> list[At]:
    """The units among names."""
    titles = [name.removeprefix(f"{UNITS}:") for name in names if name.startswith(f"{UNITS}:")]
    known = units_of_build(session.db) if titles else {}
    return [(family, unit.name) for family, unit in (known[title] for title in titles)]


def _no_such_name(name: str, known: Sequence[str], commands: Iterable[str] = ()) -> SpecError:
    """The error for what is no stage, unit or file, nor one of these commands, which may be misspelt."""
    if commands := tuple(commands):
        hint = nearest(name, [*commands, *known], near=NEAR) or _COMMANDS
        return SpecError(f"there is no command, stage, unit or file '{name}'", hint)
    return SpecError(f"there is no stage, unit or file '{name}'", nearest(name, known, near=NEAR) or _ALL)


def _matching(word: str, known: Sequence[str]) -> list[str]:
    """The names that a pattern, a word with `*`, matches. SpecError if there are none."""
    matched = fnmatch.filter(known, word)
    if not matched:
        hint = nearest(word.replace("*", ""), known) or _ALL
        raise SpecError(f"nothing matches '{word}'", hint)
    return matched
