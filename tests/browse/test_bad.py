"""Every error of `tests/bad`, typed into an editor: the report is, to the letter, that of a run over saved files.

One session has them all, one after another: what is wrong in one leaves nothing for the next.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from problems.test_bad_specs import BASE, NAMES, is_typed, read
from project import Project

from gradmill.extensions.browse.lsp.sessions.session import Session
from gradmill.problems.formats import render
from gradmill.session.own_code import running_code
from gradmill.session.settings.config import read_config

TYPED = list(filter(is_typed, NAMES))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("typed"), BASE, (BASE / "RELEASE").read_text()).build()


@pytest.fixture(scope="module")
def session(project: Project) -> Iterator[Session]:
    values = project.values
    result = Session(read_config(values), running_code())
    result.check({})
    result.complete()
    yield result
    result.close()


@pytest.mark.parametrize("name", TYPED)
def test_what_is_typed_is_reported_as_what_is_saved(
    name: str, session: Session, project: Project, tmp_path: Path
) -> None:
    case = read(name)
    shutil.copytree(BASE, tmp_path / "bad")
    case.apply(tmp_path / "bad")
    files = [path.relative_to(BASE) for path in BASE.rglob("*") if path.is_file()]
    changed = [file for file in files if (tmp_path / "bad" / file).read_bytes() != (BASE / file).read_bytes()]
    session.check({str(project.specs / file): (tmp_path / "bad" / file).read_bytes() for file in changed})
    session.complete()
    report = session.report()
    assert render(report).replace(str(project.specs), "SPECS") == case.expected
    assert report.failed == (case.status != 0)


def test_after_all_of_them_nothing_is_reported(session: Session) -> None:
    session.check({})
    session.complete()
    assert render(session.report()) == ""
