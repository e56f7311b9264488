"""The keys of an entry of native_functions.yaml but `func`: each sets the function's field of the same name, as
`model.keys` says what its value is.

torchgen: `model.NativeFunction.from_yaml`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gradmill.grammar.names import parse_operator_name
from gradmill.grammar.schema import SchemaParser
from gradmill.model.keys import KEYS, SHARED, Key, Value
from gradmill.problems.problem import Errors, SpecError, at_field, nearest
from gradmill.releases.model import Release
from gradmill.rules.native.dispatch import parse_dispatch
from gradmill.rules.native.precompute import parse_precompute
from gradmill.rules.native.ufunc import parse_ufunc


class Known(NamedTuple):
    """What values may refer to."""

    tags: frozenset[str]  # the names declared in tags.yaml
    release: Release
    parser: SchemaParser


def settings_of(entry: Mapping[str, object], known: Known) -> dict[str, Any]:
    """The fields that an entry sets. Raises one SpecError for all keys with a wrong value."""
    settings, errors = {}, Errors()
    for name, key in KEYS["native"].items():
        if name in entry and key.value in _READ:
            with errors, at_field(name):
                settings[name] = _READ[key.value](entry[name], key, known)
    errors.check()
    return settings


def _text(value: object, key: Key, known: Known) -> str | None:
    if value is not None and not isinstance(value, str):
        raise SpecError(f"not text: {value!r}", f"write one of {', '.join(key.words)}" if key.value == "choice" else "")
    return value


def _unqualified(value: object, key: Key, known: Known) -> str | None:
    """A name without namespace: it is in the op's own."""
    name = _text(value, key, known)
    if name is not None and "::" in name:
        raise SpecError(f"it has a namespace, '{name}'", "the op's own namespace is used")
    return name


def _operator(value: object, key: Key, known: Known) -> str | None:
    name = _unqualified(value, key, known)
    if name is not None:
        parse_operator_name(name)
    return name


def _operators(value: object, key: Key, known: Known) -> tuple[str, ...]:
    if not isinstance(value, str):
        raise SpecError(f"not text: {value!r}")
    names = value.split(", ") if value else []
    for name in names:
        parse_operator_name(name)
    return tuple(names)


def _flag(value: object, key: Key, known: Known) -> bool:
    if not isinstance(value, bool):
        raise SpecError(f"neither True nor False: {value!r}", "write True or False")
    return value


def _choice(value: object, key: Key, known: Known) -> str:
    name = _text(value, key, known)
    if name is None:
        return key.default
    if name not in key.words:
        hint = nearest(name, key.words) or f"write one of {', '.join(key.words)}"
        raise SpecError(f"unknown value '{name}'", hint, needle=name)
    return name


def _variants(value: object, key: Key, known: Known) -> tuple[str, ...]:
    hint = "write function, method or both"
    if not isinstance(value, str):
        raise SpecError(f"not text: {value!r}", hint)
    names, errors = value.split(", "), Errors()
    for name in names:
        if name not in key.words:
            errors.add(SpecError(f"unknown variant '{name}'", hint, needle=name))
    errors.check()
    return tuple(sorted(set(names)))


def _names(value: object, key: Key, known: Known) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise SpecError(f"not a list of names: {value!r}", "write [name, name]")
    return tuple(sorted(set(value)))


def _tags(value: object, key: Key, known: Known) -> tuple[object, ...]:
    """The tags of an entry, and those that the schema of another one with the same list receives, as `SHARED` says."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list):
        raise SpecError(f"tags is neither a name nor a list of names: {value!r}")
    errors = Errors()
    for name in names:
        if (isinstance(name, dict) and SHARED in name) or (isinstance(name, str) and name in known.tags):
            continue
        hint = nearest(str(name), known.tags) or "declare it in tags.yaml"
        if isinstance(name, str) and "," in name:
            hint = f"write a list: [{name}]"
        errors.add(SpecError(f"unknown tag '{name}'", hint, needle=str(name)))
    errors.check()
    return tuple(names)


_READ: Mapping[Value, Callable[[object, Key, Known], Any]] = {
    "flag": _flag,
    "text": _text,
    "unqualified": _unqualified,
    "operator": _operator,
    "operators": _operators,
    "choice": _choice,
    "variants": _variants,
    "names": _names,
    "tags": _tags,
    "kernels": lambda value, key, known: parse_dispatch(value, known.release),
    "precomputed": lambda value, key, known: parse_precompute(value, known.parser),
    "loops": lambda value, key, known: parse_ufunc(value, known.release),
}
