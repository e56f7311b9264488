"""The keys of an entry of native_functions.yaml that set the function's field of the same name, and their values.

No schema is parsed here: the stage `specs` uses
the keys, and does not depend on the schema parser.

torchgen: `model.NativeFunction.from_yaml`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gradmill.grammar.names import parse_operator_name
from gradmill.model.keys import KEYS, Key, Value
from gradmill.problems.problem import Errors, SpecError, at_field, nearest


def settings_of(entry: Mapping[str, object]) -> dict[str, Any]:
    """The fields that an entry sets. Raises one SpecError for all keys with a wrong value."""
    keys = [KEYS["native"][name] for name in entry if name in KEYS["native"]]
    settings, errors = {}, Errors()
    for key in keys:
        if key.value in _READ:
            with errors:
                settings[key.name] = _READ[key.value](entry[key.name], key)
    errors.check()
    return settings


def _text(value: object, key: Key) -> str | None:
    if value is not None and not isinstance(value, str):
        hint = f"write one of {', '.join(key.words)}" if key.value == "choice" else ""
        raise SpecError(f"not text: {value!r}", hint, field=(key.name,))
    return value


def _unqualified(value: object, key: Key) -> str | None:
    """A name without namespace: it is in the op's own."""
    name = _text(value, key)
    if name is not None and "::" in name:
        raise SpecError(f"it has a namespace, '{name}'", "the op's own namespace is used", field=(key.name,))
    return name


def _operator(value: object, key: Key) -> str | None:
    name = _unqualified(value, key)
    if name is not None:
        with at_field(key.name):
            parse_operator_name(name)
    return name


def _flag(value: object, key: Key) -> bool:
    if not isinstance(value, bool):
        raise SpecError(f"neither True nor False: {value!r}", "write True or False", field=(key.name,))
    return value


def _choice(value: object, key: Key) -> str:
    name = _text(value, key)
    if name is None:
        return key.default
    if name not in key.words:
        hint = nearest(name, key.words) or f"write one of {', '.join(key.words)}"
        raise SpecError(f"unknown value '{name}'", hint, field=(key.name,), needle=name)
    return name


def _names(value: object, key: Key) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise SpecError(f"not a list of names: {value!r}", "write [name, name]", field=(key.name,))
    return tuple(sorted(set(value)))


_READ: Mapping[Value, Callable[[object, Key], Any]] = {
    "flag": _flag,
    "text": _text,
    "unqualified": _unqualified,
    "operator": _operator,
    "choice": _choice,
    "names": _names,
}
