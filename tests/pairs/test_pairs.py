"""Every pair of settings, each held against what must hold in any setting: tests/pairs has the table and the rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from forked import Run
from manifests import manifest_in
from small import Installed, Small

from pairs.hold import ALWAYS, FINISHED, Outcome, References, outcome, wrong
from pairs.settings import EXCLUDED, SETTINGS, Case, cases, impossible, pairs_of_table, table, title
from pairs.work import Programs

pytestmark = pytest.mark.slow  # it installs a wheel

QUICK = cases(quick=True)[::4]  # all of them: python -m tests.campaigns pairs --quick


@pytest.fixture(scope="module")
def programs(commands: Path) -> Iterator[Programs]:
    with Small() as editable, Installed(commands / "python") as wheel:
        yield Programs(editable, wheel)


@pytest.fixture(scope="module")
def references(programs: Programs) -> References:
    return References(programs)


@pytest.mark.parametrize("quick", [True, False])
def test_every_pair_is_tried_or_excluded_for_a_reason(quick: bool) -> None:
    values = table(quick=quick)
    unexplained = [pair for pair, reason in impossible(values, cases(quick=quick)).items() if not reason]
    assert unexplained == [], "say in EXCLUDED why these cannot go together"


def test_each_reason_excludes_a_pair() -> None:
    pairs = [dict(pair) for pair in pairs_of_table(table(quick=False))]
    assert [each.reason for each in EXCLUDED if not any(map(each.holds, pairs))] == []


@pytest.mark.slow(4)
@pytest.mark.parametrize(
    "case", QUICK, ids=[f"{number}-{case['set']}-{case['program']}" for number, case in enumerate(QUICK)]
)
def test_a_pair_holds(case: Case, tmp_path: Path, programs: Programs, references: References) -> None:
    lines = wrong(outcome(case, tmp_path.resolve() / "case", programs, references))
    assert not lines, "\n".join([title(case), *lines])


# ---- each rule notices what it is for


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory, programs: Programs, references: References) -> Outcome:
    """A case with warnings, of all families, for which all holds."""
    usual = {name: values.quick[0] for name, values in SETTINGS.items()}
    unusual = {"before": "an edit", "text": "a warning", "format": "json"}
    case = {**usual, **unusual}
    result = outcome(case, tmp_path_factory.mktemp("right").resolve() / "case", programs, references)
    assert wrong(result) == []
    return result


def _file(result: Outcome, name: str, change: Callable[[str], str]) -> Outcome:
    return replace(result, files={**result.files, name: change(result.files[name].decode()).encode()})


def _changed_manifest(result: Outcome, change: Callable[[Any], object]) -> Outcome:
    manifest = json.loads(manifest_in(result.work.cache / result.work.name))
    change(manifest)
    return replace(result, manifest=manifest)


WRONG: dict[str, Callable[[Outcome], Outcome]] = {
    "files_do_not_depend_on_other_families": lambda result: _file(result, "Functions.h", lambda text: f"{text} "),
    "manifest_is_right": lambda result: _changed_manifest(result, lambda it: it["files"][0].update(size=1)),
    "units_are_complete": lambda result: _changed_manifest(result, lambda it: it["units"].pop(0)),
    "bytes_are_those_of_a_clean_build": lambda result: _file(result, "ViewFuncs.h", lambda text: f"{text} "),
    "second_run_does_nothing": lambda result: replace(result, again={**result.again, "new": (0, 0, 0)}),
    "problems_are_the_same": lambda result: replace(result, second=Run(0, result.second.stdout, "")),
    "equal_files_are_not_written": lambda result: replace(result, tree=dict.fromkeys(result.tree, (0, 0, 0))),
    "no_traceback": lambda result: replace(result, second=result.second._replace(stderr="Traceback")),
}


@pytest.mark.parametrize("rule", WRONG)
def test_a_rule_notices_what_it_is_for(right: Outcome, rule: str) -> None:
    (holds,) = (each for each in {*ALWAYS, *FINISHED} if each.__name__ == rule)
    assert list(holds(WRONG[rule](right)))
