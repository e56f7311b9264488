"""The language server, as an editor sees it: what it shows, offers and changes; and what it leaves alone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from editor import DERIVATIVES, NATIVE, TAGS, Editor
from lsprotocol import types
from project import Project

EXP = "- name: exp(Tensor self) -> Tensor\n  self: grad * result.conj()\n"


@pytest_asyncio.fixture
async def editor(built: Project) -> AsyncIterator[Editor]:
    """An editor on a project that was built."""
    found = await Editor.of(built)
    yield found
    assert (await found.end(), found.errors.read_text()) == (0, "")


def told(found: list[types.Diagnostic]) -> list[str]:
    return [each.message.partition("\n")[0] for each in found]


# ---- what is shown


@pytest.mark.asyncio
async def test_a_mistake_is_shown_while_it_is_typed_and_gone_when_it_is_mended(editor: Editor, built: Project) -> None:
    path = built.path(DERIVATIVES)
    assert await editor.open(path) == []
    (found,) = await editor.edit(path, EXP, EXP.replace("result.conj", "reslt.conj"))
    assert found.message == "exp: self: unknown name 'reslt'\nhint: did you mean 'result'?"
    assert found.severity == types.DiagnosticSeverity.Warning
    assert editor.text_at(path.as_uri(), found.range) == "reslt"
    assert await editor.edit(path, "reslt.conj", "result.conj") == []


@pytest.mark.asyncio
async def test_places_are_counted_in_the_units_of_the_editor(editor: Editor, built: Project) -> None:
    path = built.path(DERIVATIVES)
    await editor.open(path)
    (found,) = await editor.edit(path, "grad * result.conj()\n", "grad * /* \U0001f600\u00e9 */ reslt.conj()\n")
    line = "  self: grad * /* \U0001f600\u00e9 */ "
    assert found.range.start.character == len(line) + 1  # the face counts twice
    assert editor.text_at(path.as_uri(), found.range) == "reslt"
    (found,) = await editor.edit(path, "reslt.conj()\n", "rslt.conj()\n")
    assert editor.text_at(path.as_uri(), found.range) == "rslt"


@pytest.mark.asyncio
async def test_what_is_shown_is_what_a_run_tells(editor: Editor, built: Project) -> None:
    """Mistakes in three files at once: the same messages, at the same places, as of a run over what was saved."""
    edits = {
        DERIVATIVES: [("- name: mul.Tensor(", "- name: mul.Tensr("), (EXP, EXP.replace("self:", "slef:"))],
        NATIVE: [("- func: sin(Tensor self) -> Tensor\n", "- func: sin(Tensr self) -> Tensor\n")],
        TAGS: [("- tag: inplace_view\n  desc: |\n", "- tag: inplace_view\n  description: |\n")],
    }
    for name, changes in edits.items():
        path = built.path(name)
        await editor.open(path)
        for old, new in changes:
            await editor.edit(path, old, new)
    found = shown(editor)
    for name in edits:
        built.path(name).write_text(editor.texts[built.path(name).as_uri()])
    assert found == run_tells(built)
    assert {name for name, *_ in found} == {DERIVATIVES, NATIVE, TAGS}


def shown(editor: Editor) -> set[tuple[str, int, int, str]]:
    """What is shown in all files: the file, line and column, the message."""
    return {
        (Path(uri).name, each.range.start.line + 1, each.range.start.character + 1, each.message.partition("\n")[0])
        for uri, published in editor.shown.items()
        for each in published.diagnostics
    }


def run_tells(project: Project) -> set[tuple[str, int, int, str]]:
    """The same of what a run tells."""
    run = project.run("check", format="json")
    report = json.loads(run.stdout or run.stderr)
    return {
        (Path(p["file"]).name, p["line"], p["column"], ": ".join(filter(None, (p["op"], *p["field"], p["problem"]))))
        for p in report["problems"]
    }


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("broken", "old", "new"),
    [
        (DERIVATIVES, "  self: grad * result.conj()\n", "  self: {grad * result.conj()\n"),
        (NATIVE, "- func: sin(Tensor self) -> Tensor\n", "- func: [sin(Tensor self) -> Tensor\n"),
        (NATIVE, "- func: sin(Tensor self) -> Tensor\n", "- func: sin(Tensor self) -> \x08Tensor\n"),
        (TAGS, "- tag: core\n", "- tag: {core\n"),
    ],
)
async def test_a_text_that_is_no_yaml_is_shown_as_a_run_tells_it(
    editor: Editor, built: Project, broken: str, old: str, new: str
) -> None:
    """With mistakes in the other files, of which some only follow from it."""
    await editor.open(built.path(DERIVATIVES))
    await editor.open(built.path(NATIVE))
    await editor.open(built.path(TAGS))
    await editor.edit(built.path(DERIVATIVES), "- name: mul.Tensor(", "- name: mul.Tensr(")
    await editor.edit(built.path(NATIVE), "- func: cos(Tensor self) -> Tensor\n", "- func: cos(Tensr self) -> Tensor\n")
    await editor.edit(built.path(DERIVATIVES), "  self: -grad * self.sin().conj()\n", "  self:\n")
    before = shown(editor)
    await editor.edit(built.path(broken), old, new)
    while_broken = shown(editor)
    for name in (DERIVATIVES, NATIVE, TAGS):
        built.path(name).write_text(editor.texts[built.path(name).as_uri()])
    assert while_broken == run_tells(built)
    await editor.edit(built.path(broken), new, old)
    assert shown(editor) == before
