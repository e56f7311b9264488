"""Parses `specset.toml`, and reports all its errors at their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import msgspec

from gradmill.model.regex import regex
from gradmill.problems.names import closest
from gradmill.problems.problem import Problem, SpecError, nearest
from gradmill.specs.layers.description import Description
from gradmill.specs.layers.toml_place import place_in
from gradmill.specs.layers.toml_text import parse_toml
from gradmill.specs.layers.written import WRITTEN, fields_at

if TYPE_CHECKING:
    from gradmill.problems.report import Placed

_PATH = regex(r"^(.*?)(?: - at `(?:key in )?\$(.*)`)?$", re.DOTALL)
_PART = regex(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_UNKNOWN = regex(r"Object contains unknown field `(.*)`")
_VALUE = regex(r"Invalid enum value '(.*)'")
_MISSING = regex(r"Object missing required field `(.*)`")
_TYPES = regex(r"`[a-z| ]+`")
_IN_TOML = {"object": "table", "str": "string", "int": "integer", "bool": "boolean", " | null": ""}
_TYPE = regex("|".join(re.escape(each) for each in _IN_TOML))
_EXAMPLES = "docs/vendors.md has an example of every key"
_MANY = 20  # how many errors of values are reported at most

Path = tuple[str, ...]


class Written(msgspec.Struct, frozen=True):
    """A description as it is written. `description` is of the type WRITTEN, which is wider."""

    file: str
    text: str
    value: dict[str, Any]
    description: Description


class Diagnostic(msgspec.Struct, frozen=True):
    """One error in a description."""

    path: Path  # of the key
    problem: str
    hint: str = ""
    needle: str = ""  # the part of the value to point at


class DescriptionError(SpecError):
    """All errors of a description: rendered as one text, and each with its place."""

    rendered = True

    def __init__(self, text: str, placed: list[Placed]) -> None:
        super().__init__(text)
        self.placed = placed


def description_error(placed_in: list[tuple[str, str, Diagnostic]]) -> DescriptionError:
    """One exception for all diagnostics, each with its file and the text of this file."""
    from gradmill.problems.locate import Position
    from gradmill.problems.plain import lines
    from gradmill.problems.report import Placed

    rendered, placed = [], []
    for file, text, diagnostic in placed_in:
        line, column = place_in(text, diagnostic.path, diagnostic.needle)
        where = ".".join(diagnostic.path)
        problem = Problem("set", "", "", diagnostic.problem, diagnostic.hint, diagnostic.path)
        placed.append(Placed(Position(0, file, line, column), problem))
        rendered.append(f"{file}:{line}:{column}: {f'{where}: ' if where else ''}{diagnostic.problem}")
        if diagnostic.hint:
            rendered.append(f"  hint: {diagnostic.hint}")
    return DescriptionError(lines(rendered).rstrip("\n"), placed)


def read_description(file: str, data: bytes) -> Written:
    """The description in the bytes of `file`. Raises a SpecError with all its errors."""
    text, value = parse_toml(file, data, "a description")
    diagnostics = [*_invalid_values(value), *_with_nulls(value)]
    if diagnostics:
        raise description_error([(file, text, each) for each in diagnostics])
    if isinstance(value.get("base"), str):  # the short form
        value["base"] = {"specs": value["base"]}
    return Written(file, text, value, msgspec.convert(value, WRITTEN))


def _with_nulls(value: Any, path: Path = ()) -> Iterator[Diagnostic]:
    """Reports text with null characters, which no path or name can have."""
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _with_nulls(item, (*path, str(key)))
    elif isinstance(value, str) and "\0" in value:
        yield Diagnostic(path, "a null character", "remove it")


def _invalid_values(value: dict[str, Any]) -> Iterator[Diagnostic]:
    """Reports invalid values: removes each from a copy, and validates the rest again.

    A required key is not reported as missing if its value was removed, or if a misspelt key was reported in its place.
    """
    rest = msgspec.msgpack.decode(msgspec.msgpack.encode(value))
    reported: set[Path] = set()
    for _ in range(_MANY):
        try:
            msgspec.convert(rest, WRITTEN)
            return
        except msgspec.ValidationError as error:
            path, problem = _parts(rest, str(error))
            pieces = _names_in_slot(rest, path)
            if pieces is not None:
                hint = f"write slots.{path[-2]} = {{ piece = {pieces} }}"
                path = path[:-1]
                yield Diagnostic(path, "several pieces of a slot are in a table", hint)
                _take_out(rest, path, problem)
                continue
            missing, unknown = _MISSING.fullmatch(problem), _UNKNOWN.fullmatch(problem)
            if missing is None or (*path, missing[1]) not in reported:
                yield _diagnostic(path, problem)
            reported.add(path if unknown is None else (*path, closest(unknown[1], _keys(path))))
            _take_out(rest, path, problem)


def _names_in_slot(value: Any, path: Path) -> str | None:
    """The list as TOML, if the path is of a name in a list that stands for a slot; else None."""
    if path[-3:-2] != ("slots",):
        return None
    for key in path[:-1]:
        value = value[int(key)] if isinstance(value, list) else value[key]
    is_names = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return f"[{', '.join(msgspec.json.encode(each).decode() for each in value)}]" if is_names else None


def _parts(value: Any, message: str) -> tuple[Path, str]:
    """The path and the problem in a message of msgspec. It omits the keys of tables; trying each recovers them."""
    match = _PATH.match(message)
    assert match is not None
    path: Path = ()
    inner = value
    for name, member in _PART.findall(match[2] or ""):
        key = name or member
        if member == "...":
            key = next((k for k in inner if str(k) and _gives(value, path, k, message)), next(iter(inner), ""))
        inner = inner[int(key)] if isinstance(inner, list) and key.isdecimal() else inner[key]
        path = (*path, key)
    return path, match[1]


def _gives(value: Any, path: Path, key: str, message: str) -> bool:
    """Whether validation gives the same message if the table at `path` has only this key."""
    copy = msgspec.msgpack.decode(msgspec.msgpack.encode(value))
    inner = copy
    for name in path:
        inner = inner[int(name)] if isinstance(inner, list) else inner[name]
    for other in [other for other in inner if other != key]:
        del inner[other]
    try:
        msgspec.convert(copy, WRITTEN)
    except msgspec.ValidationError as error:
        return str(error) == message
    return False


def _diagnostic(path: Path, problem: str) -> Diagnostic:
    """The diagnostic for a problem that msgspec reports at a path."""
    unknown, missing = _UNKNOWN.fullmatch(problem), _MISSING.fullmatch(problem)
    if unknown is not None:
        keys = _keys(path)
        hint = nearest(unknown[1], keys) or f"keys: {', '.join(keys)}"
        return Diagnostic((*path, unknown[1]), f"there is no key '{unknown[1]}'", hint)
    if missing is not None:
        return Diagnostic(path, f"'{missing[1]}' is missing", f"write {missing[1]} = …")
    value = _VALUE.fullmatch(problem)
    if value is not None and (words := _words(path)):
        hint = nearest(value[1], words) or f"write one of {', '.join(words)}"
        return Diagnostic(path, f"there is no '{value[1]}'", hint, value[1])
    keys = _keys(path) if problem.startswith("Expected `object`") else ()
    hint = f"write a table: [{'.'.join(path)}] with {', '.join(keys)}" if keys else _EXAMPLES
    in_toml = _TYPES.sub(lambda types: _TYPE.sub(lambda each: _IN_TOML[each[0]], types[0]), problem)
    return Diagnostic(path, in_toml[:1].lower() + in_toml[1:], hint)


def _words(path: Path) -> tuple[str, ...]:
    """The words that are valid for the key at a path, or for a member of its list."""
    for length in range(len(path) - 1, -1, -1):
        fields = fields_at(path[:length])
        if fields and not path[length].isdecimal():
            return tuple(dict.fromkeys(_literals(fields[path[length]]))) if path[length] in fields else ()
    return ()


def _literals(type_: Any) -> Iterator[str]:
    if get_origin(type_) is Literal:
        yield from get_args(type_)
    else:
        for each in get_args(type_):
            yield from _literals(each)


def _keys(path: Path) -> tuple[str, ...]:
    """The keys of the table at a path."""
    return tuple(fields_at(path))


def _take_out(value: Any, path: Path, problem: str) -> None:
    """Removes one invalid value. A missing key is added instead, as empty text, the type of all required keys.

    So a table stays in its list, and members after it keep their indices.
    """
    unknown, missing = _UNKNOWN.fullmatch(problem), _MISSING.fullmatch(problem)
    named = unknown or missing
    *outer, last = (*path, named[1]) if named is not None else path or ("",)
    for name in outer:
        value = value[int(name)] if isinstance(value, list) else value[name]
    if missing is not None:
        value[last] = ""
    elif isinstance(value, list):
        del value[int(last)]
    elif last in value:
        del value[last]
