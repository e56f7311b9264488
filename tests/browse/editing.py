"""Fixtures: one editor for all tests of a module, with all files of a built set open. Each test leaves them as they
were."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from copies import copy_of
from project import Project

from browse.editor import DERIVATIVES, NATIVE, TAGS, Editor

IN_ONE_LOOP = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def project(small_built: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return copy_of(small_built, tmp_path_factory.mktemp("edited"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def editor(project: Project) -> AsyncIterator[Editor]:
    async with Editor.editing(project, DERIVATIVES, NATIVE, TAGS) as result:
        yield result


@pytest_asyncio.fixture(autouse=True, loop_scope="module")
async def restored(editor: Editor) -> AsyncIterator[None]:
    yield
    await editor.restore()
