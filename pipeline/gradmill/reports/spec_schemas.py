"""JSON Schemas of derivatives.yaml and native_functions.yaml, for editors that know YAML but not gradmill.

They check the keys, their types, dispatch keys and tags. They cannot check what depends on other entries or on the
contents of a formula. They use draft 7, which all YAML editors support.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import permutations
from typing import Any

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


def spec_schema(file: str, release: Release, tags: Collection[str]) -> Json:
    """The JSON Schema of one of the `FILES`, for a release and the tags that a set declares."""
    role, values = FILES[file], _values(release, tags)
    return {
        "$schema": DRAFT,
        "$id": f"urn:gradmill:{file}:{release.version}",
        "title": f"{file}.yaml of PyTorch {release.version}",
        "type": "array",
        "items": {
            "type": "object",
            "required": [ENTRY_KEY[role]],
            "properties": {name: _value(key, values) for name, key in KEYS[role].items()},
            "additionalProperties": _FORMULA if role == "derivatives" else False,
        },
    }


def _value(key: Key, values: Mapping[Value, Json]) -> Json:
    """The schema of the value of a key, with what it is about."""
    described = {"description": key.about} if key.about else {}
    if key.value == "choice":
        return {**described, "anyOf": [{"enum": list(key.words)}, {"type": "null"}]}
    if key.value == "variants":
        return {**described, "enum": [*key.words, *map(", ".join, permutations(key.words))]}
    return {**described, **values[key.value]}


def _values(release: Release, tags: Collection[str]) -> dict[Value, Json]:
    """The schemas of the kinds of values that do not depend on the key."""
    tag, keys = {"enum": sorted(tags)}, release.kernel_keys
    one_condition = {"type": "array", "items": _TEXT, "maxItems": 1}
    formulas = {"type": "object", "additionalProperties": _FORMULA}
    return {
        "schema": _SCHEMA,
        "text": {"type": ["string", "null"]},
        "unqualified": _TEXT,
        "operator": {"type": "string", "pattern": r"^\w+(\.\w+)?$"},
        "operators": _TEXT,
        "flag": _FLAG,
        "names": _NAMES,
        "tags": {"anyOf": [tag, {"type": "array", "items": tag}]},
        "kernels": {**_mapping(keys, _TEXT), "patternProperties": {_listed(keys): _TEXT}},
        "formulas": _mapping(release.autograd_keys, formulas, "Default"),
        "differentiability": {"anyOf": [{"type": "array", "items": _FLAG}, one_condition, {"type": "null"}]},
        "precomputed": _NAMES,
        "loops": {"anyOf": [_TEXT, _mapping(release.ufunc_loops, _TEXT)]},
    }


def _mapping(keys: Collection[str], value: Json, *more: str) -> Json:
    properties = dict.fromkeys((*more, *sorted(keys)), value)
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _listed(keys: Collection[str]) -> str:
    one = f"({'|'.join(sorted(keys))})"
    return rf"^{one}(\s*,\s*{one})*$"
