"""What is shipped passes its own checker: the formulas of the `core` set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from project import CORE, Project

RELEASE = (CORE / "RELEASE").read_text().strip()
# Formulas that call a helper of the set's own that torch has as well, and those that are right where torch is wrong.
DIFFERENT = (
    "mm mse_loss_backward clamp.Tensor logsumexp silu index_add as_strided div.Tensor_mode native_dropout".split()
)
# Formulas that are right where torch's own are not.
RIGHT = "pow.Tensor_Tensor pow.Scalar where.self fill.Tensor masked_fill.Tensor select_scatter sigmoid_backward".split()


def rows(folder: Path, *names: str) -> list[dict[str, str]]:
    """The report on these operators, which has no error and no warning but of what is not checked."""
    run = Project(folder, CORE, RELEASE).gradmill("verify", *names, "--format=json").ok()
    found: list[dict[str, str]] = json.loads(run.stdout)["rows"]
    assert [row["operator"] for row in found if row["status"] in ("wrong", "doubtful")] == []
    return found


@pytest.mark.slow(15)
def test_formulas_that_differ_from_torchs_are_verified(tmp_path: Path) -> None:
    found = rows(tmp_path, *DIFFERENT, *RIGHT)
    assert {row["name"] for row in found if row["status"] == "unchecked"} == {"MmBackwardAutogradCUDA0"}
    status = {row["operator"].removeprefix("aten::"): row["status"] for row in found}
    assert [name for name in RIGHT if status[name] != "verified"] == []


@pytest.mark.slow
def test_all_formulas_are_verified(tmp_path: Path) -> None:
    assert [row for row in rows(tmp_path) if "does not compile" in row["reason"]] == []
