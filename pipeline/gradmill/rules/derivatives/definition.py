"""One entry of derivatives.yaml to a `Definition`: its keys, their types, the rules within one entry.

torchgen: `load_derivatives.load_derivatives`, `load_derivatives.create_differentiability_info`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from gradmill.model.autograd import Definition, Formula
from gradmill.model.entries import ODD_SET, ODD_VALUE, PAIRS
from gradmill.model.keys import ENTRY_KEY, KEYS
from gradmill.model.regex import regex
from gradmill.problems.names import closest
from gradmill.problems.problem import Errors, SpecError, at_field, nearest
from gradmill.releases.model import Release
from gradmill.rules.derivatives.forward import NON_DIFFERENTIABLE, misplaced_word

_NAME = regex(r"(\w+)(?:\.\w+)?\(.*\)")
_NAMESPACE = regex(r"\w+::(?=\w)")
_OWN_KEYS = KEYS["derivatives"]


def parse_definition(
    value: object, release: Release, *, namespaced: bool = False
) -> tuple[Definition, list[SpecError]]:
    """The definition of an entry, and the suspicions about it. Raises one SpecError for all that upstream refuses.

    `namespaced`: the definition may be for a function in another namespace than PyTorch's. In `value`, `dispatch` is a
    mapping that keeps its order: see `PAIRS`.
    """
    if not isinstance(value, Mapping):
        raise SpecError("not a mapping", "write - name: schema, then input: formula rows")
    errors = Errors()
    with errors:
        schema, name = _schema(value, namespaced=namespaced)
    raw_differentiability = value.get("output_differentiability")
    suspicions: list[SpecError] = []
    if "dispatch" in value:
        with errors:
            dispatch = _dispatch(value["dispatch"], release)
        for key in map(str, value):
            if key not in _OWN_KEYS:
                problem = f"key '{key}' next to dispatch is ignored"
                hint = nearest(key, _OWN_KEYS) or "move it under a dispatch key"
                suspicions.append(SpecError(problem, hint, field=(key,), at_key=True, rule="ignored-key"))
    else:
        if raw_differentiability is not None and _items(raw_differentiability) == []:
            problem = f"{raw_differentiability!r} has no effect: every output counts as differentiable"
            hint = "write [True, False], with a value for each output, or remove it"
            suspicions.append(SpecError(problem, hint, field=("output_differentiability",), rule=_DIFFERENTIABILITY))
            raw_differentiability = None
        rows = {k: v for k, v in value.items() if k not in _OWN_KEYS}
        with errors:
            dispatch = (("Default", _formulas(rows, ())),)
    with errors:
        differentiability, conditions = _differentiability(raw_differentiability, suspicions)
    errors.check()
    return Definition(
        schema=schema,
        name=name,
        dispatch=dispatch,
        output_differentiability=differentiability,
        output_differentiability_conditions=conditions,
        by_key="dispatch" in value,
    ), suspicions


def valid_part(
    value: object, error: SpecError, release: Release, *, namespaced: bool = False
) -> tuple[Definition | None, list[SpecError]]:
    """The definition of an entry without the keys that `error` and those behind it are about; None without a name."""
    wrong = {each.field[0] for each in (error, *error.others) if each.field}
    rest = {key: each for key, each in value.items() if str(key) not in wrong} if isinstance(value, Mapping) else {}
    if not wrong or "name" not in rest:
        return None, []
    definition, suspicions = parse_definition(rest, release, namespaced=namespaced)
    return replace(definition, partial=True), suspicions


def _schema(value: Mapping[Any, object], *, namespaced: bool) -> tuple[str, str]:
    """The schema that a definition names, and the name of its operator."""
    schema = value.get("name")
    if schema is None:
        raise no_such_key(value, "name", "the entry has no name", "write name: the operator's schema")
    if not isinstance(schema, str):
        raise SpecError(f"not text: {schema!r}", field=("name",))
    own = _NAMESPACE.match(schema) if namespaced else None
    match = _NAME.match(schema, own.end() if own is not None else 0)
    if match is None:
        hint = "copy it from native_functions.yaml"
        if _NAMESPACE.match(schema):
            hint = "derivatives of operators with a namespace need a specset.toml with a layer for them"
        raise SpecError(f"not a schema: '{schema}'", hint, field=("name",))
    return schema, match.group(1)


def no_such_key(value: Mapping[Any, object], key: str, problem: str, hint: str) -> SpecError:
    """The error for a missing key, at a key with nearly its name, if present."""
    for other in value:
        if nearest(str(other), (key,)) or other in ENTRY_KEY.values():
            return SpecError(problem, f"did you mean '{key}'?", field=(str(other),), at_key=True)
    return SpecError(problem, hint)


def _dispatch(raw: object, release: Release) -> tuple[tuple[str, tuple[Formula, ...]], ...]:
    pairs = raw.get(PAIRS) if isinstance(raw, Mapping) else None
    if not isinstance(pairs, list):
        raise SpecError("dispatch is not a mapping", "write KEY: then input: formula rows", field=("dispatch",))
    formulas, errors = [], Errors()
    known = {"Default", *release.autograd_keys}
    for key, rows in pairs:
        field = ("dispatch", str(key))
        if key not in known:
            hint = nearest(str(key), known) or "write Default or an autograd key such as AutogradCUDA"
            errors.add(SpecError(f"invalid dispatch key '{key}'", hint, field=field))
        if not isinstance(rows, Mapping):
            errors.add(SpecError(f"dispatch key {key} has no formulas", "write input: formula rows", field=field))
            continue
        with errors:
            formulas.append((key, _formulas(rows, field)))
    errors.check()
    return tuple(formulas)


def _formulas(rows: Mapping[object, object], field: tuple[str, ...]) -> tuple[Formula, ...]:
    """The rows in the order of their keys, as upstream reads them."""
    formulas, errors = [], Errors()
    for key, formula in rows.items():
        with errors:
            formulas.append(_formula(key, formula, field))
    errors.check()
    return tuple(sorted(formulas, key=lambda row: row.key))


def _formula(key: object, formula: object, field: tuple[str, ...]) -> Formula:
    """One row. `field` is the path of the mapping that it is in."""
    if not isinstance(key, str):
        raise SpecError(f"key {key!r} is not the name of an input or output", field=(*field, str(key)))
    if not isinstance(formula, str):
        words = (*_OWN_KEYS, NON_DIFFERENTIABLE)
        if isinstance(formula, list) and closest(key, words) == NON_DIFFERENTIABLE:
            with at_field(*field):
                raise misplaced_word(key, [str(item) for item in formula])
        meant = "" if field else nearest(key, _OWN_KEYS)
        if meant:
            raise SpecError(f"unknown key '{key}'", meant, field=(key,), at_key=True)
        if formula is None:
            raise SpecError(f"the formula of '{key}' is empty", "write it, or drop the row", field=(*field, key))
        hint = "quote it"
        if not isinstance(formula, (list, Mapping)):
            hint += f"; if the input has no gradient, write {NON_DIFFERENTIABLE}"
        raise SpecError(f"the formula of '{key}' is not text: {formula!r}", hint, field=(*field, key))
    return Formula(key, tuple(name.strip() for name in key.split(",")), formula)


_DIFFERENTIABILITY = "output-differentiability"


def _differentiability(
    raw: object, suspicions: list[SpecError]
) -> tuple[tuple[bool, ...] | None, tuple[str, ...] | None]:
    field = ("output_differentiability",)
    if raw is None:
        return None, None
    items = _items(raw)
    problem = f"output_differentiability is not a list: {raw!r}"
    if items is None or not isinstance(raw, list):
        error = SpecError(problem, "write [True, False]", field=field, rule=_DIFFERENTIABILITY)
        if items is None:
            raise error
        suspicions.append(error)
    if any(isinstance(item, str) for item in items):
        if len(items) != 1 and isinstance(raw, str):
            raise SpecError(problem, "write [True, False]", field=field)
        if len(items) != 1:
            problem = f"{len(items)} output_differentiability conditions"
            raise SpecError(problem, "only one, for one output, is supported", field=field)
        if isinstance(raw, Mapping):
            raise SpecError("a condition is the key of a mapping", f"write ['{next(iter(raw))}']", field=field)
        return (True,), tuple(items)
    if not all(isinstance(item, bool) for item in items):
        problem = "output_differentiability contains other values than True and False"
        suspicions.append(SpecError(problem, field=field, rule=_DIFFERENTIABILITY))
    return tuple(bool(item) for item in items), None


def _items(raw: object) -> list[Any] | None:
    """The items that upstream gets when it iterates over a value of any type; None if the value is not iterable.

    Text yields its characters, a mapping its keys. An empty or false value yields nothing.
    """
    if isinstance(raw, Mapping) and any(str(key).startswith(ODD_VALUE) for key in raw):
        return raw.get(ODD_SET)
    if isinstance(raw, (list, str, Mapping)):
        return list(raw)
    return None if raw else []
