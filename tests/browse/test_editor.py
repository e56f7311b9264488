"""What the language server shows in an editor, as it is typed: what a run would tell, where it would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lsprotocol import types
from project import Project

from browse.editing import IN_ONE_LOOP, editor, project, restored
from browse.editor import DERIVATIVES, NATIVE, TAGS, Editor

__all__ = ["editor", "project", "restored"]  # fixtures

pytestmark = IN_ONE_LOOP

EXP = "- name: exp(Tensor self) -> Tensor\n  self: grad * result.conj()\n"
SHUFFLE = "pixel_shuffle(Tensor self, "


async def test_an_error_is_shown_while_it_is_typed_and_cleared_when_mended(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    (diagnostic,) = await editor.edit(path, EXP, EXP.replace("result.conj", "reslt.conj"))
    assert diagnostic.message == "exp: self: unknown name 'reslt'\nhint: did you mean 'result'?"
    assert diagnostic.severity == types.DiagnosticSeverity.Warning
    assert editor.text_at(path.as_uri(), diagnostic.range) == "reslt"
    assert await editor.edit(path, "reslt.conj", "result.conj") == []


async def test_places_are_counted_in_the_units_of_the_editor(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    text = "grad * /* \U0001f600\u00e9 */ reslt.conj()\n"
    (actual,) = await editor.edit(path, "grad * result.conj()\n", text)
    line = "  self: grad * /* \U0001f600\u00e9 */ "
    assert actual.range.start.character == len(line) + 1  # the face counts twice
    assert editor.text_at(path.as_uri(), actual.range) == "reslt"
    face, actual = await editor.edit(path, "reslt.conj()\n", "rslt.conj() \U0001f600\n")
    assert editor.text_at(path.as_uri(), actual.range) == "rslt"
    assert editor.text_at(path.as_uri(), face.range) == "\U0001f600"


def shown(editor: Editor) -> set[tuple[str, int, int, str]]:
    """What is shown in all files: the file, line and column, the message."""
    return {
        (Path(uri).name, each.range.start.line + 1, each.range.start.character + 1, each.message.partition("\n")[0])
        for uri, published in editor.shown.items()
        for each in published.diagnostics
    }


def run_reports(editor: Editor, project: Project) -> set[tuple[str, int, int, str]]:
    """The same of what a run over these texts reports."""
    paths = {project.path(name): project.path(name).read_text() for name in (DERIVATIVES, NATIVE, TAGS)}
    try:
        for path in paths:
            path.write_text(editor.texts[path.as_uri()])
        run = project.run("check", format="json")
    finally:
        for path, text in paths.items():
            path.write_text(text)
    return {
        (Path(p["file"]).name, p["line"], p["column"], ": ".join(filter(None, (p["op"], *p["field"], p["problem"]))))
        for p in json.loads(run.stdout)["problems"]
    }


@pytest.mark.parametrize(
    ("broken", "old", "new"),
    [
        (DERIVATIVES, "  self: grad * result.conj()\n", "  self: {grad * result.conj()\n"),
        (NATIVE, "- func: sin(Tensor self) -> Tensor\n", "- func: [sin(Tensor self) -> Tensor\n"),
        (NATIVE, "- func: sin(Tensor self) -> Tensor\n", "- func: sin(Tensor self) -> \x08Tensor\n"),
        (TAGS, "- tag: core\n", "- tag: {core\n"),
    ],
)
async def test_a_text_that_is_no_yaml_is_shown_as_a_run_reports_it(
    editor: Editor, project: Project, broken: str, old: str, new: str
) -> None:
    """With errors in the other files, of which some only follow from it."""
    await editor.edit(project.path(DERIVATIVES), "- name: mul.Tensor(", "- name: mul.Tensr(")
    await editor.edit(project.path(NATIVE), "- func: cos(Tensor self)", "- func: cos(Tensr self)")
    await editor.edit(project.path(DERIVATIVES), "  self: -grad * self.sin().conj()\n", "  self:\n")
    before = shown(editor)
    await editor.edit(project.path(broken), old, new)
    assert shown(editor) == run_reports(editor, project)
    await editor.edit(project.path(broken), new, old)
    assert shown(editor) == before


async def test_an_error_in_one_file_is_shown_in_another(editor: Editor, project: Project) -> None:
    """Also where that is not open; and cleared with the text that was never saved."""
    native, derivatives = project.path(NATIVE), project.path(DERIVATIVES)
    editor.close(derivatives)
    await editor.edit(native, "- func: pixel_shuffle(Tensor self, int upscale_factor)", f"- func: {SHUFFLE}int factor)")
    (diagnostic,) = editor.shown[derivatives.as_uri()].diagnostics
    assert diagnostic.message.startswith(
        "pixel_shuffle: name: native_functions.yaml names the argument 'factor', not 'upscale_factor'"
    )
    await editor.open(derivatives)
    (diagnostic,) = await editor.edit(derivatives, f"{SHUFFLE}int upscale_factor)", f"{SHUFFLE}int factor)")
    assert "unknown name 'upscale_factor'" in diagnostic.message
    assert await editor.edit(derivatives, "unshuffle(grad, upscale_factor)", "unshuffle(grad, factor)") == []
    editor.close(native)
    await editor.until(lambda: editor.shown[derivatives.as_uri()].diagnostics)
    assert await editor.open(native) == []


async def test_what_is_typed_fast_is_shown_as_it_is_in_the_end(editor: Editor, project: Project) -> None:
    path = project.path(DERIVATIVES)
    published_before = len(editor.published)
    old = "grad * result.conj()\n"
    for new in (f"grad * reslt{number}.conj()\n" for number in range(60)):
        editor.type(path, old, new)
        old = new
    (diagnostic,) = await editor.diagnostics(path)
    assert "unknown name 'reslt59'" in diagnostic.message
    editor.type(path, old, "grad * result.conj()\n")
    assert await editor.diagnostics(path) == []
    versions = [params.version for params in editor.published[published_before:] if params.uri == path.as_uri()]
    assert versions == sorted(versions)
    assert len(versions) < 60, "nothing was taken together"
