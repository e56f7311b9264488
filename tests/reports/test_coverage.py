"""`gradmill coverage`: its rows, its totals, its table."""

from __future__ import annotations

import json
from typing import Any

from project import Project


def coverage(project: Project, **variables: object) -> dict[str, Any]:
    run = project.run("coverage", "--format", "json", **variables).ok()
    return json.loads(run.stdout)


def row(report: dict[str, Any], op: str) -> dict[str, Any]:
    return next(row for row in report["rows"] if row["op"] == op)


def test_there_is_a_row_for_every_node(project: Project) -> None:
    report = coverage(project)
    rows = project.run("show", "infos").rows + project.run("show", "foreach").rows
    assert sorted(row["node"] for row in report["rows"]) == sorted(row["op"] for row in rows if row.get("op"))
    assert report["totals"]["nodes"] == len(report["rows"])


def test_a_row_lists_differentiable_inputs_and_saved_attributes(project: Project) -> None:
    actual = row(coverage(project), "mul.Tensor")
    assert actual["node"] == "MulBackward0"
    assert actual["inputs"] == ["self", "other"]
    assert actual["forward"] == ["result"]
    assert actual["not_implemented"] == []
    assert {saved["name"] for saved in actual["saves"] if saved["tensor"]} == {"self", "other"}
    assert "mul_.Tensor" in actual["serves"]


def test_a_forward_derivative_that_goes_is_missed(project: Project) -> None:
    before = coverage(project)["totals"]
    project.replace("derivatives.yaml", "  result: self_t.mul(other)\n", "")
    report = coverage(project)
    assert row(report, "mul.Scalar")["forward"] == []
    assert report["totals"]["forward"] < before["forward"]
    assert report["totals"]["functions"] == before["functions"]


def test_not_implemented_gradients_are_counted(project: Project) -> None:
    before = coverage(project)["totals"]
    project.set_formula("mul.Tensor", "other", 'not_implemented("mul")')
    report = coverage(project)
    assert row(report, "mul.Tensor")["not_implemented"] == ["other"]
    assert report["totals"]["some_not_implemented"] > before["some_not_implemented"]


def test_rows_of_one_kind_are_those_with_what_it_names(project: Project) -> None:
    rows = coverage(project)["rows"]
    wanted = {
        "no-forward": [row["op"] for row in rows if not row["forward"]],
        "saves-input": [row["op"] for row in rows if any(each["tensor"] and each["input"] for each in row["saves"])],
        "saves-output": [
            row["op"] for row in rows if any(each["tensor"] and not each["input"] for each in row["saves"])
        ],
        "saves-nothing": [row["op"] for row in rows if not row["saves"]],
    }
    for kind, ops in wanted.items():
        report = project.run("coverage", "--format", "json", f"--only={kind}").stdout
        assert [row["op"] for row in json.loads(report)["rows"]] == ops, kind
    assert "exp" in wanted["saves-output"] and "mul.Tensor" in wanted["saves-input"]
    wrong = project.run("coverage", "--only=saves-inputs")
    assert wrong.status != 0 and "saves-input" in wrong.stderr and "Traceback" not in wrong.stderr


def test_totals_are_the_sums_of_the_rows(project: Project) -> None:
    report = coverage(project)
    rows, totals = report["rows"], report["totals"]
    assert totals["forward"] == sum(bool(row["forward"]) for row in rows)
    assert totals["forward"] + totals["without_forward"] == totals["nodes"]
    assert totals["saving_nothing"] == sum(not row["saves"] for row in rows)
    assert totals["saved_tensors"] == sum(saved["tensor"] for row in rows for saved in row["saves"])
    assert totals["functions"] == len({name for row in rows for name in (row["op"], *row["serves"])})


def test_the_table_has_a_line_for_every_row(project: Project) -> None:
    run = project.run("coverage").ok()
    head, _, table = run.stdout.partition("\n\noperator ")
    assert "with a forward derivative" in head
    assert len(table.splitlines()) == 1 + len(coverage(project)["rows"])
    line = next(line for line in table.splitlines() if line.startswith("mul.Tensor "))
    assert line.split()[:4] == ["mul.Tensor", "MulBackward0", "result", "-"]
