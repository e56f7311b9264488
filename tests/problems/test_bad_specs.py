"""Every error of `tests/bad` gives the message that stands with it, and leaves the generated files alone.

A table of `tests/bad` holds the errors of a subject: how the spec set in `tests/bad/base` is made wrong, and what
standard error must then read, with the folder of the spec set written as SPECS. `tests/bad/README.md` explains the
keys. To rewrite the messages, and read them in the diff:

    UPDATE_GOLDEN=1 pytest -n 0 tests/problems/test_bad_specs.py
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any, NamedTuple

import pytest
import yaml
from copies import copy_of
from project import CORE, KERNEL_TEMPLATES, ROOT, Project, Run, finish

BAD = ROOT / "tests" / "bad"
BASE = BAD / "base"
TABLES = sorted(BAD.glob("*.yaml"))
Row = dict[str, Any]


def rows_of(table: Path) -> dict[str, Row]:
    """The rows of a table, by their names."""
    rows: dict[str, Row] = yaml.load(table.read_text(), yaml.CSafeLoader)
    written = re.findall(r"^(\S+):$", table.read_text(), re.MULTILINE)
    assert written == list(rows), f"{table}: two errors have one name"
    return rows


ROWS: dict[str, Row] = {}
for table in TABLES:
    assert not ROWS.keys() & rows_of(table), f"{table}: an error has the name of one elsewhere"
    ROWS |= rows_of(table)
NAMES = sorted(ROWS)
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))


class Case(NamedTuple):
    """A row of a table."""

    name: str
    error: str
    edits: list[Mapping[str, Any]]
    variables: dict[str, str]
    status: int
    torchgen: str
    process: bool
    shown: bool  # in docs/errors-table.md
    kernels: bool  # whether torchgen refuses it only where kernels are printed, and gradmill, too
    expected: str

    @classmethod
    def of(cls, name: str, row: Row) -> Case:
        """The case of a row. If it is one edit, the row has its keys next to the others."""
        edit = dict(row)
        keys = ("error", "edits", "run", "status", "torchgen", "process", "shown", "kernels", "expected")
        own = {key: edit.pop(key) for key in keys if key in edit}
        return cls(
            name,
            own.get("error", ""),
            own.get("edits", []) + ([edit] if edit else []),
            {key: str(value) for key, value in own.get("run", {}).items()},
            own.get("status", 1),
            own.get("torchgen", "refuses"),
            own.get("process", False),
            own.get("shown", False),
            own.get("kernels", False),
            own["expected"],
        )

    def apply(self, specs: Path) -> None:
        """Makes the error in a copy of the base."""
        for edit in self.edits:
            path = specs / edit["in"]
            text = "" if "whole" in edit else path.read_text()
            if "replace" in edit:
                assert text.count(edit["replace"]) == 1, f"{edit['in']} has not one of: {edit['replace']}"
                text = text.replace(edit["replace"], edit["by"])
            else:
                text += edit.get("whole", "") + edit.get("add", "")
            if edit.get("delete"):
                path.unlink()
            else:
                path.write_bytes(text.encode(edit.get("encoding", "utf-8")))


@cache
def read(name: str) -> Case:
    """The case of that name."""
    return Case.of(name, ROWS[name])


def is_typed(name: str) -> bool:
    """Whether a case is made by edits of the files that there are, and by nothing else."""
    edits = read(name).edits
    return not read(name).variables and all("delete" not in each and (BASE / each["in"]).is_file() for each in edits)


def rewrite(tables: list[Path], name: str, expected: str) -> None:
    """Puts what a case prints into its table, which is one of these."""
    row = re.compile(rf"(^{re.escape(name)}:\n(?:  .*\n|\n)*?  expected: ).*\n(?:    .*\n|\n(?=    ))*", re.MULTILINE)
    text = f"|\n{indent(expected, '    ')}" if expected.strip() else f"{json.dumps(expected)}\n"
    for path in tables:
        path.write_text(row.sub(lambda found: found[1] + text, path.read_text()))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The base, built; each case edits it."""
    return Project(tmp_path_factory.mktemp("bad"), BASE, (BASE / "RELEASE").read_text()).build()


@pytest.fixture(scope="module")
def base_with_kernels(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The base with the templates of kernels and views, built."""
    specs = tmp_path_factory.mktemp("templates") / "set"
    shutil.copytree(BASE, specs)
    for template in KERNEL_TEMPLATES:
        shutil.copyfile(CORE / "templates" / template, specs / "templates" / template)
    version = (BASE / "RELEASE").read_text()
    return Project(tmp_path_factory.mktemp("bad_kernels"), specs, version, kernels=True).build()


@pytest.fixture
def project(base: Project) -> Iterator[Project]:
    """The base. What a case does to its set is undone after it."""
    yield base
    for path in [path for path in base.specs.rglob("*") if path.is_file()]:
        if not (BASE / path.relative_to(base.specs)).is_file() and path.name != "RELEASE":
            path.unlink()
    for path in [path for path in BASE.rglob("*") if path.is_file()]:
        place = base.specs / path.relative_to(BASE)
        if not place.is_file() or place.read_bytes() != path.read_bytes():
            shutil.copyfile(path, place)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory, torch_specs: Path) -> dict[str, str]:
    """What torchgen says of the spec set of each case, "" where it is content; it is started once for all."""
    folder = tmp_path_factory.mktemp("sets")
    for name in ("base", *NAMES):
        shutil.copytree(BASE, folder / name)
        if name != "base":
            read(name).apply(folder / name)
            if read(name).kernels:
                (folder / name / "KERNELS").touch()
    command = [sys.executable, str(BAD / "torchgen_verdicts.py"), str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, str] = json.loads(run.stdout)
    return result


def run(case: Case, project: Project, **variables: object) -> Run:
    """One run of doit with the variables of the case."""
    values = {name: value.replace("SPECS", str(project.specs)) for name, value in case.variables.items()}
    if case.process:
        return finish(project.start(**variables, **values))
    return project.run(**variables, **values)


def message(result: Run, project: Project) -> str:
    """Standard error without the machine's own paths."""
    return result.stderr.replace(str(project.specs), "SPECS")


# By default the text that those which are typed print is compared in `browse/test_bad.py`, without a run for each.
SLOW = [pytest.mark.slow(0.2)]


@pytest.mark.golden
@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW if is_typed(name) else []) for name in NAMES])
def test_an_error_is_reported_and_generated_files_are_unchanged(name: str, project: Project, tmp_path: Path) -> None:
    """Whatever is kept from earlier runs: of every sixth case, nothing."""
    case = read(name)
    is_cold = NAMES.index(name) % 6 == 0
    files, mtimes = project.files(), project.mtimes()
    case.apply(project.specs)
    result = run(case, project, **({"cache": tmp_path / "cold"} if is_cold else {}))
    text = message(result, project)
    assert "Traceback" not in result.stdout + result.stderr
    assert result.status == case.status, text
    if UPDATE:
        rewrite(TABLES, name, text)
        ROWS[name]["expected"] = text
        read.cache_clear()
    else:
        assert text == case.expected
    if case.status:
        assert (project.files(), project.mtimes()) == (files, mtimes)


def test_torchgen_gives_the_same_verdicts(verdicts: dict[str, str]) -> None:
    refused = {name for name in NAMES if read(name).torchgen == "refuses"}
    assert {name: verdicts[name] for name in NAMES if bool(verdicts[name]) != (name in refused)} == {}


@pytest.mark.parametrize("name", [name for name in NAMES if read(name).kernels])
def test_what_torchgen_refuses_with_kernels_is_refused_where_they_are_printed(
    name: str, base_with_kernels: Project, tmp_path: Path
) -> None:
    """A set without the templates of kernels is judged by the files that it has."""
    case = read(name)
    assert case.torchgen == "refuses"
    project = copy_of(base_with_kernels, tmp_path)
    files = project.files()
    assert "VariableType_0.cpp" in files
    case.apply(project.specs)
    result = run(case, project)
    assert result.status == 1, result.stderr
    assert re.search(r"^\S+derivatives\.yaml:\d+:\d+: error: ", result.stderr, re.MULTILINE), result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    assert project.files() == files


@pytest.mark.golden
def test_the_page_of_errors_is_up_to_date(verdicts: dict[str, str]) -> None:
    from bad import errors_page

    if UPDATE:
        errors_page.PAGE.write_text(errors_page.page(verdicts))
    assert errors_page.PAGE.read_text() == errors_page.page(verdicts)


def test_the_base_is_right(project: Project, verdicts: dict[str, str]) -> None:
    project.run().clean()
    assert verdicts["base"] == ""


def test_a_mended_spec_set_needs_nothing_new(project: Project) -> None:
    mtimes = project.build().mtimes()
    read("formula-input-misspelt").apply(project.specs)
    assert project.run().status == 1
    for name in ("native_functions.yaml", "tags.yaml", "derivatives.yaml"):
        shutil.copyfile(BASE / name, project.specs / name)
    run = project.run()
    assert (run.status, run.ran) == (0, [])
    assert project.mtimes() == mtimes
