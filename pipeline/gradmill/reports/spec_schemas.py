"""JSON Schemas of derivatives.yaml and native_functions.yaml, for editors that know YAML but not gradmill.

They check the keys, their types, dispatch keys and tags. They cannot check what depends on other entries or on the
contents of a formula. They use draft 7, which all YAML editors support.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import permutations
from typing import Any

from msgspec import Struct

from gradmill.model.keys import ENTRY_KEY, KEYS, Key, Value
from gradmill.problems.problem import Role
from gradmill.releases.model import Release

DRAFT = "http://json-schema.org/draft-07/schema#"
FILES: dict[str, Role] = {"derivatives": "derivatives", "native_functions": "native"}

Json = dict[str, Any]

_SCHEMA = {"type": "string", "pattern": r"^(\w+::)?\w+(\.\w+)?\(.*\)"}
_FORMULA = {"type": "string", "description": "C++ over inputs, outputs and gradients"}
_TEXT = {"type": "string"}
_FLAG = {"type": "boolean"}
_NAMES = {"type": "array", "items": _TEXT}


class _Facts(Struct, frozen=True):
    """What a set has: its release, and the tags that it declares."""

    release: Release
    tags: Collection[str]


def spec_schema(file: str, release: Release, tags: Collection[str]) -> Json:
    """The JSON Schema of one of the `FILES`, for a release and the tags that a set declares."""
    role, facts = FILES[file], _Facts(release, tags)
    return {
        "$schema": DRAFT,
        "$id": f"urn:gradmill:{file}:{release.version}",
        "title": f"{file}.yaml of PyTorch {release.version}",
        "type": "array",
        "items": {
            "type": "object",
            "required": [ENTRY_KEY[role]],
            "properties": {name: _value(key, facts) for name, key in KEYS[role].items()},
            "additionalProperties": _FORMULA if role == "derivatives" else False,
        },
    }


def _value(key: Key, facts: _Facts) -> Json:
    described = {"description": key.about} if key.about else {}
    return {**described, **_VALUES[key.value](key, facts)}


def _variants(key: Key, facts: _Facts) -> Json:
    return {"enum": [*key.words, *map(", ".join, permutations(key.words))]}


def _tags(key: Key, facts: _Facts) -> Json:
    tag = {"enum": sorted(facts.tags)}
    return {"anyOf": [tag, {"type": "array", "items": tag}]}


def _kernels(key: Key, facts: _Facts) -> Json:
    keys = facts.release.kernel_keys
    return {**_mapping(keys, _TEXT), "patternProperties": {_listed(keys): _TEXT}}


def _formulas(key: Key, facts: _Facts) -> Json:
    rows = {"type": "object", "additionalProperties": _FORMULA}
    return _mapping(facts.release.autograd_keys, rows, "Default")


def _differentiability(key: Key, facts: _Facts) -> Json:
    one_condition = {"type": "array", "items": _TEXT, "maxItems": 1}
    return {"anyOf": [{"type": "array", "items": _FLAG}, one_condition, {"type": "null"}]}


def _mapping(keys: Collection[str], value: Json, *more: str) -> Json:
    properties = dict.fromkeys((*more, *sorted(keys)), value)
    return {"type": "object", "properties": properties, "additionalProperties": False}


_VALUES: dict[Value, Callable[[Key, _Facts], Json]] = {
    "schema": lambda key, facts: _SCHEMA,
    "text": lambda key, facts: {"type": ["string", "null"]},
    "unqualified": lambda key, facts: _TEXT,
    "operator": lambda key, facts: {"type": "string", "pattern": r"^\w+(\.\w+)?$"},
    "operators": lambda key, facts: _TEXT,
    "flag": lambda key, facts: _FLAG,
    "choice": lambda key, facts: {"anyOf": [{"enum": list(key.words)}, {"type": "null"}]},
    "variants": _variants,
    "names": lambda key, facts: _NAMES,
    "tags": _tags,
    "kernels": _kernels,
    "formulas": _formulas,
    "differentiability": _differentiability,
    "precomputed": lambda key, facts: _NAMES,
    "loops": lambda key, facts: {"anyOf": [_TEXT, _mapping(facts.release.ufunc_loops, _TEXT)]},
}


def _listed(keys: Collection[str]) -> str:
    one = f"({'|'.join(sorted(keys))})"
    return rf"^{one}(\s*,\s*{one})*$"
