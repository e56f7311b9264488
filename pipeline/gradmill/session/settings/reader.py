"""The one reader of settings: the variables of the command line, those of the nearest settings file, and the spec set
around the current folder.

A settings file is `gradmill.toml`, or `pyproject.toml` with a table `[tool.gradmill]`, in the current folder or above.
The command line wins over it. If neither names a set, the nearest folder with a complete one is the set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from gradmill.problems.plain import lines
from gradmill.problems.problem import SpecError
from gradmill.session import PROJECT, SETTINGS_FILES
from gradmill.session.settings.variables import VARIABLES, Flag, check_names, no_such_variable
from gradmill.specs.find import set_around, set_files
from gradmill.specs.location import NAME

COMMAND_LINE, DEFAULT, _FOUND = "command line", "default", "found: "  # sources of a value; others are `file:line`
HERE = os.curdir
_WIDE = 40  # columns of most variables with their values
_TABLE = ("tool", "gradmill")
# Each spelling of that table: most pyproject.toml have none, and need not be parsed.
_HAS_TABLE = re.compile(rb"tool[\s\"']*\.[\s\"']*gradmill|\[[\s\"']*tool[\s\"']*\]|^\s*[\"']?tool[\"']?\s*=", re.M)
_IN_FILES = {
    "settings": "it is for the command line",
    "fix": "only the command line applies fixes",
    "hooks": "only the command line of an editor lets it run the code of a set",
}


class Settings(dict[str, str]):
    """The variables of a run by name. `sources`: where each was read; `notice`: a line about the set that was found,
    "" if one is named; `looked_for`: the paths that decide all this, and may be missing."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.sources = dict.fromkeys(values, COMMAND_LINE)
        self.notice = ""
        self.looked_for: tuple[str, ...] = ()

    def add(self, name: str, value: str, source: str) -> None:
        """Adds a variable, unless another source has it."""
        if name not in self:
            self[name], self.sources[name] = value, source

    def names(self, name: str) -> bool:
        """Whether the command line or a settings file names a variable."""
        return self.sources.get(name, DEFAULT) != DEFAULT

    def of_any_set(self) -> dict[str, str]:
        """The variables without those that a settings file has for its own set."""
        if "specs" not in self:
            return dict(self)
        own = ("specs", "release", *(name for name in self if not self.names(name)))
        return {name: value for name, value in self.items() if name not in own or self.sources[name] == COMMAND_LINE}


class _File(Struct, frozen=True):
    """A settings file that was read. Its paths are relative to its folder."""

    folder: str
    path: str
    values: dict[str, str]
    sources: dict[str, str]


def read_settings(given: Mapping[str, str], start: str = HERE, *, finds_set: bool = True) -> Settings:
    """The settings of a run in the folder `start`. `given`: the variables of the command line; `settings=none` among
    them leaves out files. `finds_set`: whether a set around the folder is looked for. SpecError with all errors of the
    file, or if it is not clear which set is meant."""
    check_names(given)
    settings, folders = Settings(given), [*_folders_up(start)]
    looked_for, file = _nearest(folders if given.get("settings") != "none" else [])
    if file is not None:
        _add_file(settings, file)
    named_by_file = settings.sources.get("specs") not in (None, COMMAND_LINE)
    root = file.folder if file is not None and named_by_file else ""  # of the set, for the default folders
    if finds_set and (named_by_file or "specs" not in settings):
        inner = folders[: folders.index(root)] if named_by_file else folders
        folder, set_file = set_around(inner, complete=named_by_file)
        searched = inner[: inner.index(folder) + 1] if folder else inner
        looked_for += [os.path.join(each, place) for each in searched for place in set_files()]
        if folder and not (named_by_file and _is_at(settings["specs"], folder)):
            root = folder
            _replace_set(settings, folder, set_file)
        if "specs" not in settings and settings.names("generated"):  # else a run names generated/core
            settings.notice = _line(settings, "specs=core: the included set; no spec set is around this folder")
    if root and root != HERE:
        for name in ("generated", "cache"):  # of one set in one place, from whichever of its folders it is run
            settings.add(name, os.path.join(root, VARIABLES[name].default), DEFAULT)
    settings.looked_for = tuple(looked_for)
    return settings


def _folders_up(start: str) -> Iterator[str]:
    """A folder and those around it, the innermost first; relative to the current folder if `start` is."""
    folder, before = os.path.abspath(start), ""
    while folder != before:
        yield folder if os.path.isabs(start) else os.path.relpath(folder)
        folder, before = os.path.dirname(folder), folder


def _nearest(folders: list[str]) -> tuple[list[str], _File | None]:
    """The nearest settings file among folders, and the paths that were looked up."""
    looked_for = []
    for folder in folders:
        for name in SETTINGS_FILES:
            path = os.path.normpath(os.path.join(folder, name))
            looked_for.append(path)
            if os.path.isfile(path) and (file := _read(folder, path, _TABLE if name == PROJECT else ())) is not None:
                return looked_for, file
    return looked_for, None


def _read(folder: str, path: str, table: tuple[str, ...]) -> _File | None:
    """A settings file; None if it has no such table. SpecError with all its errors."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from error
    if table and not _HAS_TABLE.search(data):
        return None
    from gradmill.specs.layers.reading import DescriptionError
    from gradmill.specs.toml_text import parse_toml, place_in

    text, value = parse_toml(path, data, "the file")
    inner: Any = value
    for key in table:
        inner = inner.get(key) if isinstance(inner, dict) else None
    if inner is None:
        return None
    if not isinstance(inner, dict):
        no_table = SpecError("this is no table", "write [tool.gradmill]", field=table)
        raise DescriptionError(path, text, [no_table])
    values, sources, errors = {}, {}, []
    for name, each in inner.items():
        try:
            values[name] = _in_folder(folder, name, _text_of(name, each))
            sources[name] = f"{path}:{place_in(text, (*table, name))[0]}"
        except SpecError as error:
            error.field, error.needle = (*table, name), ""
            errors.append(error)
    if errors:
        raise DescriptionError(path, text, errors)
    return _File(folder, path, values, sources)


def _add_file(settings: Settings, file: _File) -> None:
    """Adds the variables of a file. Its release is that of its own set, and not of one that the command line names."""
    other_set = "specs" in settings
    for name, value in file.values.items():
        if name != "release" or not other_set:
            settings.add(name, value, file.sources[name])


def _replace_set(settings: Settings, folder: str, set_file: str) -> None:
    """Makes a set that was found that of the run, in place of another one that a file names."""
    for name in settings.keys() - settings.of_any_set():
        del settings[name], settings.sources[name]
    settings.add("specs", folder, f"{_FOUND}{os.path.normpath(os.path.join(folder, set_file))}")
    settings.notice = _line(settings, found_set(folder, set_file))


def _line(settings: Settings, text: str) -> str:
    """The text as a line, "" if reports are for machines."""
    return lines([text]) if settings.get("format", "text") in ("text", "github") else ""


def found_set(folder: str, set_file: str) -> str:
    """The notice of the set in a folder with the file `set_file`, which nobody named."""
    return f"specs={folder}: the spec set {'of' if folder == HERE else 'around'} this folder, which has {set_file}"


def _is_at(specs: str, folder: str) -> bool:
    """Whether a value of `specs` names the set in a folder."""
    real = os.path.realpath(specs) if VARIABLES["specs"].is_path(specs) else ""
    return real in (os.path.realpath(folder), os.path.realpath(os.path.join(folder, NAME)))


_KINDS = {bool: "a boolean", int: "an integer", float: "a number", list: "a list", dict: "a table"}


def _text_of(name: str, value: Any) -> str:
    """The value of a variable as the command line has it. SpecError if it is no such variable, or of another type."""
    if name not in VARIABLES:
        raise SpecError("there is no such variable", no_such_variable(name, "")[1])
    if name in _IN_FILES:
        raise SpecError(_IN_FILES[name], f"write {name}= there, if at all")
    variable = VARIABLES[name]
    if isinstance(value, str):
        text = value
    elif isinstance(value, bool) and variable.type is Flag:
        text = str(int(value))
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and variable.type is not str:
        text = str(value)
    elif isinstance(value, list) and variable.many and all(isinstance(each, str) for each in value):
        text = ",".join(value)
    else:
        hint = f'write {name} = "…"' if variable.type is str else variable.hint(name)
        raise SpecError(f"this is {_KINDS.get(type(value), 'a date')}", hint)
    if "\0" in text:
        raise SpecError("a null character", "remove it")
    try:
        variable.read(name, text)
    except SpecError as error:
        raise SpecError(f"'{text}' is not valid", error.hint) from None
    return text


def _in_folder(folder: str, name: str, value: str) -> str:
    """The value of a variable in a file of this folder, for the current one."""
    return os.path.normpath(os.path.join(folder, value)) if VARIABLES[name].is_path(value) else value


def locate(error: SpecError, settings: Mapping[str, str]) -> None:
    """Adds to an error of a variable's value the place in the settings file that has the value."""
    name = error.problem.partition("=")[0]
    source = settings.sources.get(name, DEFAULT) if isinstance(settings, Settings) else DEFAULT
    if not error.rendered and source not in (DEFAULT, COMMAND_LINE) and not source.startswith(_FOUND):
        error.problem = f"{source}: {error.problem}"


def settings_report(settings: Settings) -> str:
    """Each setting, its value, and where it was read: a line each."""
    named = {name: f"{name}={settings.get(name, variable.default)}" for name, variable in VARIABLES.items()}
    return lines(f"{text:{_WIDE}}  {settings.sources.get(name, DEFAULT)}" for name, text in named.items())
