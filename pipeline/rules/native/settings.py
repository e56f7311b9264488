"""The keys of an entry of native_functions.yaml, and the values of those that set one field of the function.

No schema is parsed here: the stage `specs` uses
the keys, and does not depend on the schema parser.

torchgen: `model.NativeFunction.from_yaml`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pipeline.grammar.names import parse_operator_name
from pipeline.problems.problem import SpecError, nearest

DEVICE_CHECKS = ("NoCheck", "ExactSame")


def check_name(name: str, key: str) -> None:
    """Raises a SpecError at the key if `name` is not an operator name."""
    try:
        parse_operator_name(name)
    except SpecError as error:
        error.field = (key,)
        raise


def _text(value: object, key: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise SpecError(f"not text: {value!r}", field=(key,))
    return value


def _own(value: object, key: str) -> str | None:
    """A name without namespace: it is in the op's own."""
    name = _text(value, key)
    if name is not None and "::" in name:
        raise SpecError(f"it has a namespace, '{name}'", "the op's own namespace is used", field=(key,))
    return name


def _delegate(value: object, key: str) -> str | None:
    name = _own(value, key)
    if name is not None:
        check_name(name, key)
    return name


def _flag(value: object, key: str) -> bool:
    if not isinstance(value, bool):
        raise SpecError(f"neither True nor False: {value!r}", "write True or False", field=(key,))
    return value


def _device_check(value: object, key: str) -> str:
    name = _text(value, key)
    if name is None:
        return "ExactSame"
    if name not in DEVICE_CHECKS:
        hint = nearest(name, DEVICE_CHECKS) or f"write one of {', '.join(DEVICE_CHECKS)}"
        raise SpecError(f"unknown value '{name}'", hint, field=(key,), needle=name)
    return name


def _names(value: object, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise SpecError(f"not a list of names: {value!r}", "write [name, name]", field=(key,))
    return tuple(sorted(set(value)))


# The keys that set the field of the same name.
SETTINGS: Mapping[str, Callable[[object, str], Any]] = {
    "structured": _flag,
    "structured_delegate": _delegate,
    "structured_inherits": _own,
    "use_const_ref_for_mutable_tensors": _flag,
    "device_guard": _flag,
    "device_check": _device_check,
    "python_module": _text,
    "category_override": _text,
    "manual_kernel_registration": _flag,
    "manual_cpp_binding": _flag,
    "cpp_no_default_args": _names,
}
KEYS = {"func", "variants", "dispatch", "tags", "autogen", "precomputed", "ufunc_inner_loop", *SETTINGS}
