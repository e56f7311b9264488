"""Byte for byte what torchgen makes: the files, the matches of functions, and which outputs are differentiable."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from project import CORE, ROOT, SHARDS, Project, files_in
from releases import settled

Row = dict[str, Any]


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


def test_the_file_set_is_that_of_torchgen(both: Both) -> None:
    assert sorted(both.files) == sorted(both.expected_files)
    assert set(SHARDS) <= set(both.files)


def test_every_file_is_that_of_torchgen(both: Both) -> None:
    assert [name for name, data in both.files.items() if data != both.expected_files[name]] == []


def test_the_functions_come_in_the_order_of_torchgen(both: Both) -> None:
    assert [row["func"] for row in both.rows] == [row["func"] for row in both.expected_rows]


def test_every_match_is_that_of_torchgen(both: Both) -> None:
    expected, made = ({row["func"]: settled(row) for row in rows} for rows in (both.expected_rows, both.rows))
    assert {func: (made[func], row) for func, row in expected.items() if made[func] != row} == {}


def test_every_function_has_torchgens_strategy_and_differentiable_outputs(both: Both) -> None:
    assert both.outputs == both.expected_outputs


def test_many_functions_are_matched(both: Both) -> None:
    assert sum(row["info"] is not None for row in both.rows) > 300
