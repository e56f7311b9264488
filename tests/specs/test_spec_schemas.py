"""The JSON Schemas of the YAML files: they accept what is right, and refuse the plainest errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator
from project import CORE, Project

FILES = {"derivatives": "autograd/derivatives.yaml", "native_functions": "ATen/native/native_functions.yaml"}


def schema_of(project: Project, file: str, **variables: object) -> dict[str, Any]:
    run = project.run("schema", file, **variables).ok()
    result: dict[str, Any] = json.loads(run.stdout)
    return result


def errors_of(schema: dict[str, Any], text: str) -> list[str]:
    Draft7Validator.check_schema(schema)
    schema_errors = Draft7Validator(schema).iter_errors(yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))  # noqa: S506
    return [f"{list(error.absolute_path)}: {error.message}" for error in schema_errors]


@pytest.mark.parametrize("file", FILES)
def test_the_real_files_have_no_error(project: Project, torch_specs: Path, file: str) -> None:
    """Those of the installed torch, which is of the release that the schema is for, and those of core."""
    schema = schema_of(project, file, specs=torch_specs)
    assert schema["$schema"].startswith("http://json-schema.org/")
    assert schema["$id"].startswith(f"urn:gradmill:{file}:")
    assert errors_of(schema, (torch_specs / FILES[file]).read_text()) == []
    assert errors_of(schema_of(project, file, specs=CORE), (CORE / f"{file}.yaml").read_text()) == []


@pytest.mark.parametrize(
    ("file", "entry", "error"),
    [
        ("derivatives", "- nam: {op}", "'name' is a required property"),
        ("derivatives", "- name: exp", "does not match"),
        ("derivatives", "- name: {op}\n  self: 3", "3 is not of type 'string'"),
        ("derivatives", "- name: {op}\n  dispatch:\n    AutogradCUDAX:\n      self: grad", "AutogradCUDAX"),
        ("native_functions", "- func: {op}\n  structuredd: True", "'structuredd' was unexpected"),
        ("native_functions", "- func: {op}\n  structured: maybe", "'maybe' is not of type 'boolean'"),
        ("native_functions", "- func: {op}\n  tags: poinwise", "'poinwise' is not valid"),
        ("native_functions", "- func: {op}\n  variants: functon", "'functon' is not one of"),
        ("native_functions", "- func: {op}\n  dispatch:\n    CPU, CDUA: exp", "'CPU, CDUA'"),
    ],
)
def test_plain_errors_are_known(project: Project, file: str, entry: str, error: str) -> None:
    (actual,) = errors_of(schema_of(project, file, specs=CORE), entry.replace("{op}", "exp(Tensor self) -> Tensor"))
    assert error in actual
