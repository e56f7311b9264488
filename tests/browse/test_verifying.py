"""The lens above a formula that verifies it, and what it shows."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from lsprotocol import types
from project import Project

from browse.editor import DERIVATIVES, Editor
from gradmill.extensions.browse.lsp.lenses import COMMAND

MV = "- name: mv(Tensor self, Tensor vec) -> Tensor"
RIGHT, WRONG = "  self: grad.unsqueeze(1) * vec.conj()\n", "  self: grad.unsqueeze(1) * vec\n"
COMPILING = 300  # seconds, on a busy machine
RULES = ("wrong-derivative", "not-as-torch", "not-finite")


@pytest_asyncio.fixture
async def editor(built: Project) -> AsyncIterator[Editor]:
    async with Editor.editing(built) as result:
        yield result


def found(editor: Editor, project: Project) -> list[types.Diagnostic]:
    """What verifications found, as it is shown."""
    shown = editor.shown[project.path(DERIVATIVES).as_uri()].diagnostics
    return [each for each in shown if each.code in RULES]


async def verify(editor: Editor, project: Project) -> str:
    """Clicks on the lens of `mv`; what the lens says in the end."""
    path, before = project.path(DERIVATIVES), editor.refreshed
    command = (await editor.verifications(path))[MV]
    assert command.command == COMMAND
    params = types.ExecuteCommandParams(command.command, command.arguments)
    await editor.client.workspace_execute_command_async(params)
    await editor.until(lambda: editor.refreshed > before)
    assert (await editor.verifications(path))[MV].title == "verifying …"
    await editor.until(lambda: editor.refreshed > before + 1, patience=COMPILING)
    return (await editor.verifications(path))[MV].title


@pytest.mark.slow(8)
@pytest.mark.asyncio
async def test_a_click_verifies_the_text_in_the_editor(editor: Editor, built: Project) -> None:
    path = built.path(DERIVATIVES)
    await editor.open(path)
    lenses = await editor.verifications(path)
    assert {each.title for each in lenses.values()} == {"verify"}
    await editor.edit(path, RIGHT, WRONG)
    assert (await verify(editor, built)).startswith("wrong: the gradient of self")
    (error,) = found(editor, built)
    assert error.message.startswith("mv: self: the gradient of self")
    assert "hint: for self=" in error.message
    assert "self: [grad].unsqueeze(1) * vec" in editor.marked(path.as_uri(), error.range)
    assert error.severity == types.DiagnosticSeverity.Error
    await editor.edit(path, WRONG, RIGHT)
    assert (await editor.verifications(path))[MV].title == "verify"
    assert found(editor, built) == []
    assert await verify(editor, built) == "verified"
    await editor.edit(path, RIGHT, WRONG)
    assert (await editor.verifications(path))[MV].title.startswith("wrong: ")  # remembered
    assert len(found(editor, built)) == 1
    assert built.path(DERIVATIVES).read_text().count(RIGHT) == 1


OF_MV = "  vec: self.t().conj().mv(grad)\n  result: at::mv(self_t, vec_p) + at::mv(self_p, vec_t)\n"


@pytest.mark.asyncio
async def test_what_cannot_be_verified_says_why(editor: Editor, built: Project) -> None:
    path = built.path(DERIVATIVES)
    await editor.open(path)
    assert await editor.edit(path, RIGHT + OF_MV, f"  dispatch:\n    AutogradCUDA:\n    {RIGHT}") == []
    command = (await editor.verifications(path))[MV]
    params = types.ExecuteCommandParams(command.command, command.arguments)
    await editor.client.workspace_execute_command_async(params)
    before = editor.refreshed
    while (title := (await editor.verifications(path))[MV].title) in ("verify", "verifying …"):
        await editor.until(lambda: editor.refreshed > before)
    assert title == "not checked: its formulas are for AutogradCUDA alone"
    assert found(editor, built) == []
