"""Errors in descriptions and vendors' files: each row of `errors.yaml` and `init.yaml` gives the message that stands
with it, and writes nothing. To rewrite the messages, and read them in the diff:

    UPDATE_GOLDEN=1 pytest tests/vendors/test_errors.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import forked
import pytest
from problems.test_bad_specs import UPDATE, Case, rewrite, rows_of

from vendors.test_docs import KEYS
from vendors.vendor import Vendor

TABLES = [Path(__file__).parent / name for name in ("errors.yaml", "init.yaml")]  # of `vendor.SET`, of a new set
CASES, OF_NEW = ({name: Case.of(name, row) for name, row in rows_of(table).items()} for table in TABLES)
TOML = "specset.toml"

# Of the description, what stands in it and what is to stand there: selections of known words that select nothing today,
# and may tomorrow, and what another run reads. Nothing is reported.
NOTHING = "own out key:exposed=no"
SLOT = 'declarations = { piece = "declaration", of = "%s" }'
EMPTY = {
    "replacement": ('of = "own out" }', f'of = "{NOTHING}" }}'),
    "slot": (SLOT % "own", SLOT % NOTHING),
    "nodes": ("[family.nodes]\n", f'[family.nodes]\nfunctions = "{NOTHING}"\n'),
    "value": ('take = "defined"', 'take = ["defined", "key:exposed=no"]'),
    "backend": ("[base]\n", '[[backend]]\nfile = "accel/functions.yaml"\n\n[base]\n'),  # for families=backend_stubs
}


@contextmanager
def edited(vendor: Vendor, case: Case) -> Iterator[None]:
    """The set with the error of a case."""
    try:
        case.apply(vendor.path(""))
        yield
    finally:
        for edit in case.edits:
            vendor.restore(edit["in"])


@pytest.mark.golden
@pytest.mark.parametrize("name", [*CASES, *OF_NEW])
@pytest.mark.extension("graphs", "type_stubs")  # some messages list all families
def test_an_error_is_reported_and_nothing_is_written(name: str, request: pytest.FixtureRequest) -> None:
    built: Vendor = request.getfixturevalue("built" if name in CASES else "begun")
    case, before = {**CASES, **OF_NEW}[name], built.files()
    with edited(built, case):
        run = built.run(**case.variables)
    message = run.stderr.replace(str(built.folder), "FOLDER")
    assert "Traceback" not in run.stdout + run.stderr
    assert run.status == case.status, message
    assert built.files() == before or not run.status
    if UPDATE:
        rewrite(TABLES, name, message)
    else:
        assert message == case.expected


@pytest.mark.parametrize("name", EMPTY)
def test_what_may_be_meant_for_another_day_is_not_reported(name: str, built: Vendor) -> None:
    old, new = EMPTY[name]
    with edited(built, Case.of(name, {"in": TOML, "replace": old, "by": new, "expected": ""})):
        run = built.run("check", strict=1)
    assert (run.status, run.stderr) == (0, ""), run.stdout


def test_a_set_without_derivatives_yet_is_right(tmp_path: Path) -> None:
    (tmp_path / "specset.toml").write_text(
        '[base]\nspecs = "core"\nderivatives = "alone"\n\n[[layer]]\nname = "mine"\nnative = "mine.yaml"\n\n'
        '[functions]\ntake = "defined"\n'
    )
    (tmp_path / "mine.yaml").write_text("- func: thrice(Tensor self) -> Tensor\n  dispatch:\n    CPU: thrice\n")
    assert forked.gradmill(["check", "specs=.", "strict=1"], tmp_path).ok().stdout.endswith(": no problems\n")


def test_every_key_of_descriptions_has_an_error() -> None:
    texts = [str(text) for case in CASES.values() for edit in case.edits for text in (*edit.values(), case.expected)]
    assert set(re.findall(r"\w+", "\n".join(texts))) >= KEYS


def test_a_suspicion_is_reported_on_every_run_that_has_it(vendor: Vendor) -> None:
    """With nothing to do as well; and no longer once one unit of many has the text."""
    case = CASES["unmatched-replacement"]
    with edited(vendor, case):
        runs = [vendor.run() for _ in range(3)]
        vendor.replace(TOML, "at::redispach", "accel::redispatch")
        other = vendor.run()
    for run in runs:
        assert run.status == 0 and run.stderr == case.expected.replace(" (strict=1: warnings are errors)", "")
    assert [run.ran for run in runs[1:]] == [[], []]
    assert other.status == 0 and other.stderr == "", "one unit has it, out of the replacement before"
