"""JSON Schemas of derivatives.yaml and native_functions.yaml, for editors that know YAML but not gradmill.

They check the keys, their types, dispatch keys and tags. They cannot check what depends on other entries or on the
contents of a formula. They use draft 7, which all YAML editors support.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pipeline.releases.model import Release
from pipeline.rules.native.settings import DEVICE_CHECKS

DRAFT = "http://json-schema.org/draft-07/schema#"
FILES = ("derivatives", "native_functions")

_SCHEMA = r"^(\w+::)?\w+(\.\w+)?\(.*\)"
_FORMULA = {"type": "string", "description": "C++ over inputs, outputs and gradients"}
_TEXT = {"type": "string"}
_FLAG = {"type": "boolean"}
_NAMES = {"type": "array", "items": _TEXT}
_OPERATOR = {"type": "string", "pattern": r"^\w+(\.\w+)?$"}

_OUTPUTS = {
    "description": "for each output whether it has a gradient; or one condition, in C++",
    "anyOf": [
        {"type": "array", "items": _FLAG},
        {"type": "array", "items": _TEXT, "maxItems": 1},
        {"type": "null"},
    ],
}


def spec_schema(file: str, release: Release, tags: Collection[str]) -> dict[str, Any]:
    """The JSON Schema of one of the `FILES`, for a release and the tags that a set declares."""
    entry = _derivatives(release) if file == "derivatives" else _native(release, tags)
    return {
        "$schema": DRAFT,
        "$id": f"urn:gradmill:{file}:{release.version}",
        "title": f"{file}.yaml of PyTorch {release.version}",
        "type": "array",
        "items": entry,
    }


def _derivatives(release: Release) -> dict[str, Any]:
    keys = ("Default", *sorted(release.autograd_keys))
    formulas = {"type": "object", "additionalProperties": _FORMULA}
    return {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "pattern": _SCHEMA, "description": "the operator's schema"},
            "output_differentiability": _OUTPUTS,
            "dispatch": {
                "description": "formulas by dispatch key",
                "type": "object",
                "properties": dict.fromkeys(keys, formulas),
                "additionalProperties": False,
            },
        },
        "additionalProperties": _FORMULA,
    }


def _native(release: Release, tags: Collection[str]) -> dict[str, Any]:
    tag = {"enum": sorted(tags)}
    return {
        "type": "object",
        "required": ["func"],
        "properties": {
            "func": {"type": "string", "pattern": _SCHEMA, "description": "name.overload(arguments) -> returns"},
            "variants": {"enum": ["function", "method", "function, method", "method, function"]},
            "tags": {"anyOf": [tag, {"type": "array", "items": tag}]},
            "dispatch": {
                "description": "kernels by dispatch key; several keys with commas",
                "type": "object",
                "properties": dict.fromkeys(sorted(release.kernel_keys), _TEXT),
                "patternProperties": {_listed(release.kernel_keys): _TEXT},
                "additionalProperties": False,
            },
            "structured": _FLAG,
            "structured_delegate": _OPERATOR,
            "structured_inherits": _TEXT,
            "autogen": {"type": "string", "description": "operators to generate, with commas"},
            "precomputed": _NAMES,
            "ufunc_inner_loop": {
                "anyOf": [
                    _TEXT,
                    {
                        "type": "object",
                        "properties": dict.fromkeys(sorted(release.ufunc_loops), _TEXT),
                        "additionalProperties": False,
                    },
                ]
            },
            "device_check": {"anyOf": [{"enum": list(DEVICE_CHECKS)}, {"type": "null"}]},
            "device_guard": _FLAG,
            "use_const_ref_for_mutable_tensors": _FLAG,
            "python_module": {"type": ["string", "null"]},
            "category_override": {"type": ["string", "null"]},
            "manual_kernel_registration": _FLAG,
            "manual_cpp_binding": _FLAG,
            "cpp_no_default_args": _NAMES,
        },
        "additionalProperties": False,
    }


def _listed(keys: Collection[str]) -> str:
    one = f"({'|'.join(sorted(keys))})"
    return rf"^{one}(\s*,\s*{one})*$"
