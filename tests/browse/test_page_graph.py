"""What the pages say of edits, against what runs then do: formulas of core, one after another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from project import CORE, Project

from gradmill.extensions.browse.page.relations import members
from gradmill.extensions.browse.page.subjects import operator
from gradmill.extensions.browse.pages import PageSession
from gradmill.session.build import BUDGET
from gradmill.session.session import Session
from gradmill.session.settings.config import read_config
from gradmill.session.units import titles_of

pytestmark = [pytest.mark.slow(15)]


Followed = tuple[frozenset[str], frozenset[str]]  # units, files


class Line(NamedTuple):
    """A line of derivatives.yaml that has a formula."""

    number: int
    entry: str  # the operator with its overload
    edit: str


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path, CORE, "2.13.0", kernels=True)


def followed_units(project: Project, variables: dict[str, str]) -> dict[tuple[str, str], Followed]:
    """What the pages say follows from an edit of a part of an entry, by the operator and the part."""
    result = {}
    with closing(PageSession(read_config(variables)).begin()) as build:
        for page in build.db.names(members):
            for derivative in operator(build.db, *build.layout, page).derivatives:
                for edit in dict.fromkeys(step.edit for step in derivative.steps):
                    steps = [step for step in derivative.steps if step.edit == edit]
                    units = frozenset(step.unit.title for step in steps)
                    result[derivative.schema.partition("(")[0], edit] = (
                        units,
                        frozenset(file for step in steps for file in step.files),
                    )
    return result


def formulas(lines: list[str]) -> Iterator[Line]:
    """The formulas that stand on a line of their own, under the default key."""
    entry, arguments = "", ""
    for number, line in enumerate(lines):
        if line.startswith("- name: "):
            entry, _, arguments = line.removeprefix("- name: ").partition("(")
        match = re.fullmatch(r"  (\w+)[\w, ]*: (?!non_differentiable|not_differentiable|auto_|\[)(.+)", line)
        if match and match[1] not in ("dispatch", "output_differentiability"):
            inputs = re.findall(r"(\w+)(?==|[,)])", arguments.rpartition(" -> ")[0])
            yield Line(number, entry, "backward formula" if match[1] in inputs else "forward formula")


def in_brackets(line: str) -> str:
    """The same formula, written otherwise."""
    head, _, formula = line.partition(": ")
    return f'{head}: "({formula[1:-1]})"' if formula.startswith('"') else f"{head}: ({formula})"


def test_an_edit_rebuilds_what_the_page_of_its_operator_shows(project: Project) -> None:
    variables = project.values
    followed = followed_units(project, variables)
    path = project.path("derivatives.yaml")
    lines = path.read_text().split("\n")
    edited, wrong = [], []
    with closing(Session.open(read_config(variables), writes=True, budget=BUDGET)) as session:
        session.update()
        session.save()
        for line in list(formulas(lines)):
            lines[line.number] = in_brackets(lines[line.number])
            path.write_text("\n".join(lines))
            session.refresh()
            done = session.update()
            session.save()
            assert not done.failed, done.problems().report
            edited.append(line)
            units = titles_of(session.db, done.units)
            if (frozenset(units), frozenset(done.files)) != followed[line.entry, line.edit]:
                wrong.append((line, units, done.files, followed[line.entry, line.edit]))
    assert {line.edit for line in edited} == {"backward formula", "forward formula"}
    assert len(edited) > 250
    assert wrong == []
