"""Errors in descriptions and vendors' files: each row of `errors.yaml` and `init.yaml` gives the message that stands
with it, and writes nothing. To rewrite the messages, and read them in the diff:

    UPDATE_GOLDEN=1 pytest tests/vendors/test_errors.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from problems.test_bad_specs import UPDATE, Case, rewrite, rows_of

from vendors.test_docs import KEYS
from vendors.vendor import Vendor

TABLES = [Path(__file__).parent / name for name in ("errors.yaml", "init.yaml")]  # of `vendor.SET`, of a new set
CASES, OF_NEW = ({name: Case.of(name, row) for name, row in rows_of(table).items()} for table in TABLES)
TOML = "specset.toml"


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
        run = built.run(*([] if case.status else ["check"]), **case.variables)
    message = run.stderr.replace(str(built.folder), "FOLDER")
    assert "Traceback" not in run.stdout + run.stderr
    assert run.status == case.status, message
    assert built.files() == before
    if UPDATE:
        rewrite(TABLES, name, message)
    else:
        assert message == case.expected


def test_no_stage_is_brought_up_to_date_with_keys_of_another_generator(built: Vendor) -> None:
    with edited(built, CASES["versions-forgotten"]):
        assert "which PyTorch's do not have" in built.run("run", "specs").stderr


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
    assert other.status == 0 and "unmatched-text" not in other.stderr, "one unit has it, out of the replacement before"
