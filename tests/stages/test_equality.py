"""Byte for byte what torchgen makes: the files, the matches of functions, and which outputs are differentiable."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from project import CORE, ROOT, SHARDS, Project, files_in

Row = dict[str, Any]

# torchgen fills these from Python sets: their order changes with the hash seed.
UNORDERED = {"required_inputs_fw_grad", "required_inputs_primal"}
UNORDERED_OF_FOREACH = {"all_saved_inputs", "all_saved_outputs"}


class Both(NamedTuple):
    """What torchgen made of a spec set, and what gradmill made of it."""

    expected_files: dict[str, bytes]
    expected_rows: list[Row]
    expected_outputs: list[Row]
    files: dict[str, bytes]
    rows: list[Row]
    outputs: list[Row]


@pytest.fixture(scope="session", params=["core", "torch"])
def both(request: pytest.FixtureRequest, torch_specs: Path, tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp(f"equality_{request.param}")
    native, autograd = (
        (CORE, CORE) if request.param == "core" else (torch_specs / "ATen/native", torch_specs / "autograd")
    )
    process = subprocess.Popen(
        [
            sys.executable, ROOT / "tests" / "torchgen_oracle.py",
            "--native", native / "native_functions.yaml", "--tags", native / "tags.yaml",
            "--derivatives", autograd / "derivatives.yaml", "--templates", autograd / "templates",
            "--out", folder / "expected", "--match", folder / "match.jsonl",
            "--differentiability", folder / "differentiability.jsonl",
        ],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    project = Project(folder, CORE, "2.13.0")
    assert project.run(specs=request.param).status == 0
    rows, outputs = (project.run("show", stage, specs=request.param).rows for stage in ("match", "differentiability"))
    _, stderr = process.communicate()
    assert process.returncode == 0, stderr
    expected = files_in(folder / "expected")
    expected_rows, expected_outputs = (
        [json.loads(line) for line in (folder / f"{stage}.jsonl").read_text().splitlines()]
        for stage in ("match", "differentiability")
    )
    return Both(expected, expected_rows, expected_outputs, project.files(), rows, outputs)


def ordered(value: Any, foreach: bool) -> Any:
    """`value` with the lists sorted that torchgen makes of sets."""
    if isinstance(value, list):
        return [ordered(item, foreach) for item in value]
    if not isinstance(value, dict):
        return value
    unordered = UNORDERED | (UNORDERED_OF_FOREACH if foreach else set())
    return {
        key: sorted(item, key=json.dumps)
        if key in unordered and item is not None
        else ordered(item, foreach)
        for key, item in value.items()
    }  # fmt: skip


def fields(row: Row, function: str) -> dict[str, Any]:
    """Every field of a row by its path, for a message that names what differs."""
    result: dict[str, Any] = {}

    def walk(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                walk(item, f"{path}.{key}")
        else:
            result[path] = value

    walk(ordered(row, function.startswith("_foreach_")), function)
    return result


def test_the_file_set_is_that_of_torchgen(both: Both) -> None:
    assert sorted(both.files) == sorted(both.expected_files)
    assert set(SHARDS) <= set(both.files)


def test_every_file_is_that_of_torchgen(both: Both) -> None:
    assert [name for name, data in both.files.items() if data != both.expected_files[name]] == []


def test_the_functions_come_in_the_order_of_torchgen(both: Both) -> None:
    assert [row["func"] for row in both.rows] == [row["func"] for row in both.expected_rows]


def test_every_field_of_every_match_is_that_of_torchgen(both: Both) -> None:
    expected = {row["func"]: fields(row, row["func"]) for row in both.expected_rows}
    made = {row["func"]: fields(row, row["func"]) for row in both.rows}
    different = {
        path: (made[function].get(path, "missing"), value)
        for function, values in expected.items()
        for path, value in values.items()
        if made[function].get(path, "missing") != value
    }
    assert different == {}


def test_every_function_has_torchgens_strategy_and_differentiable_outputs(both: Both) -> None:
    assert both.outputs == both.expected_outputs


def test_many_functions_are_matched(both: Both) -> None:
    assert sum(row["info"] is not None for row in both.rows) > 300
