"""The language server, as an editor sees it: what it shows, offers and changes; and what it leaves alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import forked
import pytest
import pytest_asyncio
from editor import DERIVATIVES, NATIVE, TAGS, Editor
from lsprotocol import types
from project import Project

EXP = "- name: exp(Tensor self) -> Tensor\n  self: grad * result.conj()\n"
SHUFFLE = "pixel_shuffle(Tensor self, "


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


@pytest.mark.asyncio
async def test_a_mistake_in_one_file_is_shown_in_another(editor: Editor, built: Project) -> None:
    """Also where that is not open; and gone with the text that nobody saved."""
    native, derivatives = built.path(NATIVE), built.path(DERIVATIVES)
    await editor.open(native)
    await editor.edit(native, "- func: pixel_shuffle(Tensor self, int upscale_factor)", f"- func: {SHUFFLE}int factor)")
    (found,) = editor.shown[derivatives.as_uri()].diagnostics
    assert found.message.startswith("pixel_shuffle: name: no function in native_functions.yaml has the schema")
    await editor.open(derivatives)
    (found,) = await editor.edit(derivatives, f"{SHUFFLE}int upscale_factor)", f"{SHUFFLE}int factor)")
    assert "unknown name 'upscale_factor'" in found.message
    assert await editor.edit(derivatives, "unshuffle(grad, upscale_factor)", "unshuffle(grad, factor)") == []
    editor.close(native)
    await editor.until(lambda: editor.shown[derivatives.as_uri()].diagnostics)


@pytest.mark.asyncio
async def test_what_is_typed_fast_is_shown_as_it_is_in_the_end(editor: Editor, built: Project) -> None:
    path = built.path(DERIVATIVES)
    await editor.open(path)
    told_before = len(editor.told)
    old = "grad * result.conj()\n"
    for new in (f"grad * reslt{number}.conj()\n" for number in range(60)):
        editor.type(path, old, new)
        old = new
    (found,) = await editor.diagnostics(path)
    assert "unknown name 'reslt59'" in found.message
    editor.type(path, old, "grad * result.conj()\n")
    assert await editor.diagnostics(path) == []
    versions = [params.version for params in editor.told[told_before:] if params.uri == path.as_uri()]
    assert versions == sorted(versions)
    assert len(versions) < 60, "nothing was taken together"


@pytest.mark.asyncio
async def test_a_certain_correction_is_offered(editor: Editor, built: Project) -> None:
    path = built.path(DERIVATIVES)
    await editor.open(path)
    found = await editor.edit(path, "grad * result.conj()\n", "grad * reslt.conj()\n")
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(path.as_uri()), found[0].range, types.CodeActionContext(found)
    )
    (action,) = await editor.client.text_document_code_action_async(params)
    assert action.title == "Write 'result' for 'reslt'"
    assert editor.applied(action.edit) == {DERIVATIVES: path.read_text()}


# ---- what is left alone


@pytest.mark.asyncio
async def test_what_nobody_saved_is_in_no_file_and_no_cache(editor: Editor, built: Project) -> None:
    """The tree is as it was, and a run has nothing to do."""
    before = built.tree()
    path = built.path(DERIVATIVES)
    await editor.open(path)
    await editor.edit(path, "grad * result.conj()\n", "grad * 2 * result.conj()\n")
    await editor.edit(path, "grad * 2 * result.conj()\n", "{grad * 2 * reslt.conj()\n")
    during = built.tree()
    files = {path for path in before if Path(path).is_file()}
    assert {path: during[path] for path in files} == {path: before[path] for path in files}
    assert built.run().ran == []


@pytest.mark.asyncio
async def test_a_run_beside_it_starts_the_count_again(editor: Editor, built: Project) -> None:
    """What was saved and run is made, and costs nothing more."""
    path = built.path(DERIVATIVES)
    await editor.open(path)
    await editor.edit(path, "grad * result.conj()\n", "grad * 2 * result.conj()\n")
    line = "- name: exp(Tensor self) -> Tensor"
    assert (await editor.lenses(path))[line].startswith("edited: re-makes 2 units")
    editor.save(path)
    assert built.run().units == ["ExpBackward0", "ForeachExpBackward0"]
    await editor.edit(path, "- name: mv(", "# a comment\n- name: mv(")
    assert (await editor.lenses(path))[line] == "2 units made from it"


@pytest.mark.asyncio
async def test_a_killed_editor_leaves_nothing_for_long(built: Project) -> None:
    """The rows of its own that it left go with the next one."""
    first = await Editor.of(built)
    await first.open(built.path(DERIVATIVES))
    assert first.client._server is not None
    first.client._server.kill()
    await first.client._server.wait()
    await first.client.stop()
    (left,) = built.rows.parent.glob("editor.*")
    second = await Editor.of(built)
    await second.open(built.path(DERIVATIVES))
    assert not left.exists()
    assert await second.end() == 0
    assert list(built.rows.parent.glob("editor.*")) == []


# ---- files of other kinds


@pytest.mark.asyncio
async def test_a_file_belongs_to_the_nearest_set_around_it(built: Project, tmp_path: Path) -> None:
    """Without specs=: no set has to be named, and files of two sets do not meet."""
    editor = await Editor.start(tmp_path, f"cache={built.cache}")
    other = Project(tmp_path / "other", built.specs, (built.specs / "RELEASE").read_text())
    for project in (built, other):
        assert await editor.open(project.path(DERIVATIVES)) == []
    await editor.edit(other.path(DERIVATIVES), "grad * result.conj()\n", "grad * reslt.conj()\n")
    assert len(await editor.diagnostics(other.path(DERIVATIVES))) == 1
    assert await editor.diagnostics(built.path(DERIVATIVES)) == []
    assert (await editor.end(), editor.errors.read_text()) == (0, "")


@pytest.mark.asyncio
async def test_a_file_of_no_set_is_told_so_or_left_alone(editor: Editor, built: Project, tmp_path: Path) -> None:
    """Derivatives alone are no set: one says so. Of other YAML files nothing is said."""
    lonely, other = tmp_path / "alone" / DERIVATIVES, tmp_path / "alone" / "workflow.yaml"
    lonely.parent.mkdir()
    for path in (lonely, other):
        path.write_text("- name: mv(Tensor self, Tensor vec) -> Tensor\n  self: grad\n")
    (found,) = await editor.open(lonely)
    assert found.severity == types.DiagnosticSeverity.Information
    assert "part of no spec set" in found.message
    await editor.open(other, wait=False)
    assert await editor.hover(other, "- name: mv(", 9) == ""
    assert await editor.open(built.path(DERIVATIVES)) == []
    assert other.as_uri() not in editor.shown


@pytest.mark.asyncio
async def test_a_file_that_is_broken_when_it_is_opened_is_mended(editor: Editor, built: Project) -> None:
    path = built.path(DERIVATIVES)
    text = path.read_text()
    path.write_text(text.replace("grad * result.conj()\n", "{grad * result.conj()\n"))
    (found,) = await editor.open(path)
    assert "not YAML" in found.message
    assert await editor.edit(path, "{grad", "grad") == []


@pytest.mark.asyncio
async def test_text_that_is_no_text_is_shown(editor: Editor, built: Project) -> None:
    """Half a character, as an editor may send it."""
    path = built.path(DERIVATIVES)
    await editor.open(path)
    (found,) = await editor.edit(path, "grad * result.conj()\n", "grad * \x1b result.conj()\n")
    assert "control character U+001B" in found.message
    assert await editor.edit(path, "\x1b ", "") == []


def test_it_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['pygls'] = None; from pipeline.front.start.command import run; run()"
    command = [sys.executable, "-c", code, "lsp"]
    run = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert run.returncode == 3
    assert run.stderr == "ERROR: lsp: pygls is not installed\n  pip install 'gradmill[lsp]'\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lsp", "specs=nowhere"], "specs=nowhere: there is no such spec set"),
        (["lsp", "file.yaml"], "lsp: 'file.yaml' is not expected here"),
    ],
)
def test_a_wrong_command_line_is_refused(project: Project, words: list[str], message: str) -> None:
    run = forked.gradmill(words, project.folder)
    assert run[0] == 3
    assert message in run[2]
