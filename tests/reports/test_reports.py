"""Reports as JSON, for programs: `format=json` of explain, list, coverage and diff; what `show` and `dumpdb` print."""

from __future__ import annotations

import json
from typing import Any

import pytest
from project import SHARD_TASKS, Project, finish

from gradmill.reports.trail import SEEN


def read(project: Project, *words: str, **variables: object) -> Any:
    run = project.run(*words, format="json", **variables).clean()
    return json.loads(run.stdout)


def test_explain_gives_what_the_text_says_of_a_thing(built: Project) -> None:
    built.set_formula("exp", "self", "result.conj() * grad")
    (node,) = read(built, "explain", "ExpBackward0")
    text = built.run("explain", "ExpBackward0").stdout
    assert node["name"] == "ExpBackward0"
    assert node["what"] in text
    assert [part for part in (*node["made_from"], *node["made_into"], *node["reasons"]) if part not in text] == []
    assert "Functions.cpp" in node["made_into"]
    names = [each["name"] for each in read(built, "explain", "SinBackward0", "Functions.h")]
    assert names == ["SinBackward0", "Functions.h"]


def test_explain_lists_the_operators_that_match_in_alphabetical_order(built: Project) -> None:
    matches = [each["name"] for each in read(built, "explain", "[!demifsz_]*") if each["what"] == "function"]
    names = [*dict.fromkeys(match.partition("(")[0].partition(".")[0] for match in matches)]
    assert names == sorted(names) and len(names) > 9


def test_explain_gives_what_follows_from_edits(built: Project) -> None:
    assert read(built, "explain") == []
    built.set_formula("exp", "self", "result.conj() * grad")
    (edit,) = read(built, "explain")
    assert edit["what"].startswith("derivatives.yaml:") and edit["what"].endswith(" exp")
    assert edit["units"] == ["ExpBackward0", "ForeachExpBackward0"]
    assert edit["files"] == ["Functions.cpp"]


@pytest.mark.parametrize("names", [["Functions.cpp", "ExpBackward0"], []])
def test_explain_says_the_same_of_a_cache_that_was_copied(built: Project, names: list[str]) -> None:
    built.set_formula("exp", "self", "result.conj() * grad")
    text = built.run("explain", *names).stdout
    built.rows.touch()
    again = built.run("explain", *names).stdout
    assert again == text
    assert "up to date" not in again


def test_explain_gives_the_reasons_of_a_stage_in_one_order(built: Project) -> None:
    built.set_formula("exp", "self", "grad * result.conj() * 1")
    assert len({finish(built.start("explain", "infos", "foreach", "match", seed=seed)).stdout for seed in (0, 1)}) == 1


def test_explain_lists_no_unchanged_entry_after_a_run_that_failed(built: Project) -> None:
    """That run has replaced the rows of the formula, and written no file."""
    built.set_formula("exp", "self", "grad * result.conj() * 1")
    text = built.path("native_functions.yaml").read_text()
    built.append("native_functions.yaml", "- func: broken(Tensor self) -> Tensr")
    assert built.run().status == 1
    built.path("native_functions.yaml").write_text(text)
    assert read(built, "explain") == [
        {"what": "native_functions.yaml broken (deleted)", "units": [], "files": []},
        {"what": SEEN[1], "units": [], "files": ["Functions.cpp"]},
    ]
    assert built.run("explain").stdout.endswith(f"\n{SEEN[1]} → Functions.cpp\n")
    (file,) = read(built, "explain", "Functions.cpp")
    assert file["reasons"] == [SEEN[1]]
    assert built.run().shards == ["Functions.cpp"]


def test_explain_lists_no_entry_that_only_moved(built: Project) -> None:
    """The first entry names its group, so all entries of that are elsewhere now; one of them is edited as well."""
    path = built.path("derivatives.yaml")
    head, first, second, *rest = path.read_text().split("\n- ")
    path.write_text("\n- ".join([head, second, first, *rest]))
    built.replace("derivatives.yaml", "times(-grad, alpha.conj())", "times(-grad, alpha.conj() * 1)")
    edit, order = read(built, "explain")
    assert edit["what"].endswith(" sub.Tensor")
    assert edit["units"] == ["SubBackward0", "ForeachSubBackward0List"]
    assert order["what"] == "derivatives.yaml: its entries were reordered"
    assert all(unit.startswith(("Add", "ForeachAdd")) for unit in order["units"])
    (node,) = read(built, "explain", "MulBackward0")
    assert node["reasons"] == []


def test_explain_lists_added_and_deleted_entries_in_order(built: Project) -> None:
    path = built.path("derivatives.yaml")
    head, _, *rest = path.read_text().split("\n- ")
    path.write_text("\n- ".join([head, *rest]))
    built.set_formula("exp", "self", "result.conj() * grad")
    first, second, *_ = (each["what"] for each in read(built, "explain"))
    assert first.startswith("derivatives.yaml:") and first.endswith(" exp")
    assert second == "derivatives.yaml add.Tensor (deleted)"


def test_list_gives_tasks_their_state_and_their_files(built: Project) -> None:
    built.set_formula("exp", "self", "result.conj() * grad")
    tasks = {task["name"]: task for task in read(built, "list", "--all", "--status")}
    assert tasks.keys() >= {"specs", "emit", "shard", "emit:SinBackward0", *SHARD_TASKS}
    assert tasks["shard:Functions.cpp"]["target"] == str(built.generated / "Functions.cpp")
    stale = {name for name, task in tasks.items() if task["status"] == "run" and name.startswith(("emit", "shard"))}
    assert stale == {"emit", "emit:ExpBackward0", "emit:ForeachExpBackward0", "shard", "shard:Functions.cpp"}
    assert all("status" not in task for task in read(built, "list"))
    assert [task["name"] for task in read(built, "list", "match")] == ["match"]


NAMES = {
    "exp": {"exp"},
    "exp_": {"exp"},  # what it serves
    "ExpBackward0": {"exp"},
    "add.Tensor": {"add.Tensor"},
    "add": {"add.Tensor", "add.Scalar"},
}


@pytest.mark.parametrize("name", NAMES)
def test_coverage_of_what_is_named(built: Project, name: str) -> None:
    actual = read(built, "coverage", name)
    assert {row["op"] for row in actual["rows"]} == NAMES[name]
    assert actual["totals"]["nodes"] == len(actual["rows"])
    text = built.run("coverage", name).stdout
    assert all(row["node"] in text for row in actual["rows"])
    assert "SinBackward0" not in text


def test_coverage_names_what_is_near_an_unknown_name(built: Project) -> None:
    run = built.run("coverage", "expp")
    assert run.status == 3
    assert run.stderr == "ERROR: coverage: nothing with derivatives is called 'expp'\n  did you mean 'exp'?\n"


@pytest.mark.parametrize("form", [pytest.param("github", marks=pytest.mark.slow), "sarif"])
def test_forms_of_problems_leave_reports_as_text(built: Project, form: str) -> None:
    for words in (("explain", "exp"), ("coverage", "exp"), ("list",)):
        assert built.run(*words, format=form).stdout == built.run(*words).stdout
