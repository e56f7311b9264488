"""Parses `specset.toml`, and reports all its errors at their lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import FieldInfo, fields

from gradmill.model.regex import regex
from gradmill.problems.names import closest
from gradmill.problems.problem import SpecError, nearest, problem_of
from gradmill.specs.layers.description import Description
from gradmill.specs.toml_text import parse_toml, place_in

_IN_TOML = {"object": "table", "str": "string", "int": "integer", "bool": "boolean", " | null": ""}
_TYPE = regex("|".join(re.escape(each) for each in _IN_TOML))
_EXAMPLES = "docs/vendors.md has an example of every key"

Path = tuple[str, ...]


def error_at(path: Path, problem: str, hint: str = "", needle: str = "", rule: str = "") -> SpecError:
    """An error at a key of a description; of a rule: a warning. This may follow from any error, unless it is about the
    base, which may have caused that."""
    error = SpecError(problem, hint, field=path, needle=needle, rule=rule)
    error.follows = bool(rule) and path[0] != "base"
    return error


def unknown(
    path: Path, problem: str, name: str, known: Collection[str], hint: str = "", rule: str = ""
) -> Iterator[SpecError]:
    """A problem of a name that is not among the known ones. `problem` has `{}` for it; `hint`: if none is similar."""
    if name not in known:
        near = nearest(name, known) or hint or f"known: {', '.join(known)}"
        yield error_at(path, problem.replace("{}", name), near, name, rule)


class DescriptionError(SpecError):
    """All errors of a file, each at its key: rendered as one text, and placed for reports in other formats."""

    rendered = True

    def __init__(self, file: str, text: str, errors: Iterable[SpecError]) -> None:
        from gradmill.problems.locate import Position
        from gradmill.problems.plain import lines
        from gradmill.problems.report import Placed, counted

        rendered, self.placed = [], []
        for error in errors:
            line, column = place_in(text, error.field, error.needle)
            where = f"{'.'.join(counted(error.field))}: " if error.field else ""
            self.placed.append(Placed(Position(0, file, line, column), problem_of(error, "set", "", "")))
            rendered.append(f"{file}:{line}:{column}: {where}{error.problem}")
            if error.hint:
                rendered.append(f"  hint: {error.hint}")
        super().__init__(lines(rendered).rstrip("\n"))


def read_description(file: str, data: bytes) -> tuple[str, dict[str, Any]]:
    """The text of the description in the bytes of `file`, and its value, for all releases. Raises a SpecError with all
    its errors."""
    text, value = parse_toml(file, data, "a description")
    if errors := _errors(value, Description):
        raise DescriptionError(file, text, errors)
    if isinstance(value.get("base"), str):  # the short form
        value["base"] = {"specs": value["base"]}
    return text, value


def _errors(value: Any, type_: Any, path: Path = ()) -> list[SpecError]:
    """The errors of a value that should be of a type, each at its key: those of its members, or if they have none, its
    own."""
    known, mapping, several = _forms(type_)
    found: list[SpecError] = []
    if isinstance(value, dict) and known:
        found = _errors_of_keys(value, known, path)
        for key in [key for key in value if key in known]:
            found += _errors(value[key], known[key].type, (*path, key))
    elif isinstance(value, dict) and mapping:
        for key, item in value.items():
            found += _errors(key, mapping[0], (*path, key)) or _errors(item, mapping[1], (*path, key))
    elif isinstance(value, list) and several:
        for place, item in enumerate(value):
            found += _errors(item, several[0], (*path, str(place)))
    elif isinstance(value, str) and "\0" in value:
        found = [error_at(path, "a null character", "remove it")]
    try:
        msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        return found or [_of_value(path, value, type_, str(error))]
    return found


def _errors_of_keys(value: Collection[str], known: dict[str, FieldInfo], path: Path) -> list[SpecError]:
    """The errors for keys of a table that are unknown, and for those that are missing unless one looks like it."""
    unknown_keys = {key: closest(key, tuple(known)) for key in value if key not in known}
    found = []
    for key, near in unknown_keys.items():
        hint = f"did you mean '{near}'?" if near else f"keys: {', '.join(known)}"
        if path and not near and key in Description.__struct_encode_fields__:
            hint = f"'{key}' is a key of the whole description: write it above the first table"
        found.append(error_at((*path, key), f"there is no key '{key}'", hint))
    missing = [name for name, field in known.items() if field.required and name not in {*value, *unknown_keys.values()}]
    return found + [error_at(path, f"'{name}' is missing", f"write {name} = …") for name in missing]


def _of_value(path: Path, value: Any, type_: Any, problem: str) -> SpecError:
    """The error for a value that is not of its type, by the message of msgspec."""
    if problem.startswith("Invalid enum"):
        words = tuple(word for each in _parts(type_) if get_origin(each) is Literal for word in get_args(each))
        hint = nearest(value, words) or f"write one of {', '.join(words)}"
        return error_at(path, f"there is no '{value}'", hint, value)
    said = next((each.extra for each in _parts(type_) if isinstance(each, Meta) and each.extra), None)
    if said is not None and ("regex" in problem or "length" in problem):
        shown = f"'{value}'" if isinstance(value, str) else f"'{path[-1]}'"
        return error_at(path, f"{shown} {said['problem']}", said["hint"])
    if isinstance(value, dict) and not problem.startswith("Expected"):  # of keys that exclude one another
        return error_at(path, problem)
    keys = ", ".join(_forms(type_)[0]) if problem.startswith("Expected `object`") else ""
    hint = f"write a table: [{'.'.join(path)}] with {keys}" if keys else _EXAMPLES
    in_toml = _TYPE.sub(lambda each: _IN_TOML[each[0]], problem)
    return error_at(path, in_toml[:1].lower() + in_toml[1:], hint)


def _forms(type_: Any) -> tuple[dict[str, FieldInfo], tuple[Any, ...], tuple[Any, ...]]:
    """Of a type that a key may have: the keys of its table, and the types of the members of a mapping and of a list."""
    known, mapping, several = {}, (), ()
    for each in _parts(type_):
        if isinstance(each, type) and issubclass(each, Struct):
            known = {field.encode_name: field for field in fields(each)}
        elif get_origin(each) is dict:
            mapping = get_args(each)
        elif get_origin(each) is tuple:
            several = get_args(each)
    return known, mapping, several


def _parts(type_: Any) -> Iterator[Any]:
    """The members of a union, and what annotates it and them."""
    if get_origin(type_) in (dict, tuple, Literal) or isinstance(type_, (type, Meta)):
        yield type_
    else:
        for each in get_args(type_):
            yield from _parts(each)


def meaning_of(path: Path) -> str:
    """What the key at a path of a description is for; "" if no table has it."""
    type_: Any = Description
    for key in path:
        known, mapping, several = _forms(type_)
        members = several[:1] if key.isdecimal() else mapping[1:]
        type_ = known[key].type if key in known else next(iter(members), None)
    return next((each.description for each in _parts(type_) if isinstance(each, Meta) and each.description), "")
