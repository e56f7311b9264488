"""The language server beside runs, in sets that were not named, and outside of sets: what it does not touch."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import forked
import pytest
import pytest_asyncio
from lsprotocol import types
from project import ROOT, Project

from browse.editor import DERIVATIVES, NATIVE, Editor
from gradmill.extensions.browse.lsp.server import IDLE, LOOK, REST
from gradmill.extensions.browse.lsp.tokens import LEGEND

START = {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}}
SHUTDOWN = {"id": 3, "method": "shutdown"}
EXIT = {"method": "exit"}
PLACE = types.Position(0, 0)


@pytest_asyncio.fixture
async def editor(built: Project) -> AsyncIterator[Editor]:
    """An editor on a project that was built."""
    async with Editor.editing(built) as result:
        yield result


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wandering(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """An editor without a set."""
    folder = tmp_path_factory.mktemp("wandering")
    response = await Editor.start(folder, f"cache={folder / 'cache'}")
    yield response
    await response.end_in_peace()


@pytest.mark.asyncio
async def test_unsaved_text_is_in_no_file_and_no_cache(editor: Editor, built: Project) -> None:
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


@pytest.mark.parametrize("hears", [False, True])
@pytest.mark.asyncio
async def test_a_run_starts_the_count_again_before_a_key_is_pressed(
    editor: Editor, built: Project, hears: bool
) -> None:
    """A request is answered; an editor that is notified of changed files is asked to request again."""
    path, line = built.path(DERIVATIVES), "- name: exp(Tensor self) -> Tensor"
    await editor.open(path)
    await editor.edit(path, "grad * result.conj()\n", "grad * 2 * result.conj()\n")
    editor.save(path)
    assert (await editor.lenses(path))[line].startswith("edited: rebuilds 2 units")
    assert built.run().units == ["ExpBackward0", "ForeachExpBackward0"]
    if hears:
        editor.changed_on_disk(built.generated / "Functions.cpp")
        await editor.until(lambda: editor.refreshed)
    assert (await editor.lenses(path))[line] == "2 units made from it"


@pytest.mark.asyncio
async def test_a_release_that_becomes_wrong_is_reported_in_place_of_errors(editor: Editor, built: Project) -> None:
    """In every file that is open; of others nothing is left. When it is mended, so are they."""
    path, native, release = built.path(DERIVATIVES), built.path(NATIVE), built.specs / "RELEASE"
    text = release.read_text()
    await editor.open(native)
    await editor.edit(native, "pixel_shuffle(Tensor self, int upscale_", "pixel_shuffle(Tensor self, int ")
    await editor.until(lambda: path.as_uri() in editor.shown and editor.shown[path.as_uri()].diagnostics)
    release.write_text("1.0\n")
    editor.changed_on_disk(release)
    await editor.until(lambda: not editor.shown[path.as_uri()].diagnostics)
    (diagnostic,) = await editor.edit(
        native, "pixel_shuffle(Tensor self, int ", "pixel_shuffle(Tensor self, int upscale_"
    )
    assert "PyTorch release '1.0' is not known" in diagnostic.message
    assert diagnostic.severity == types.DiagnosticSeverity.Error
    release.write_text(text)
    editor.changed_on_disk(release)
    await editor.until(lambda: not editor.shown[native.as_uri()].diagnostics)


@pytest.mark.asyncio
async def test_a_file_that_is_open_need_not_be_on_the_disk(editor: Editor, built: Project) -> None:
    path = built.path(DERIVATIVES)
    await editor.open(path)
    path.unlink()
    (diagnostic,) = await editor.edit(path, "grad * result.conj()\n", "grad * reslt.conj()\n")
    assert "unknown name 'reslt'" in diagnostic.message
    assert await editor.edit(path, "grad * reslt.conj()\n", "grad * result.conj()\n") == []


@pytest.mark.asyncio
async def test_a_file_that_is_neither_open_nor_on_the_disk_is_missed(editor: Editor, built: Project) -> None:
    path = built.path(DERIVATIVES)
    await editor.open(built.path(NATIVE))
    path.unlink()
    editor.changed_on_disk(path)
    await editor.until(lambda: path.as_uri() in editor.shown and editor.shown[path.as_uri()].diagnostics)
    (diagnostic,) = editor.shown[path.as_uri()].diagnostics
    assert "cannot be read" in diagnostic.message


@pytest.mark.asyncio
async def test_a_killed_server_leaves_nothing_in_a_checkout(project: Project) -> None:
    """Of a set that was never built."""
    before = sorted(project.folder.rglob("*"))
    editor = await Editor.of(project)
    await editor.open(project.path(DERIVATIVES))
    await editor.lenses(project.path(DERIVATIVES))
    assert editor.client._server is not None
    editor.client._server.kill()
    await editor.client._server.wait()
    await editor.client.stop()
    editor.errors.unlink()
    assert sorted(project.folder.rglob("*")) == before


@pytest.mark.asyncio(loop_scope="module")
async def test_a_file_belongs_to_the_nearest_set_around_it(wandering: Editor, built: Project, tmp_path: Path) -> None:
    """Without specs=: no set has to be named, and files of two sets do not meet."""
    editor = wandering
    other = Project(tmp_path / "other", built.specs, (built.specs / "RELEASE").read_text())
    for project in (built, other):
        assert await editor.open(project.path(DERIVATIVES)) == []
    await editor.edit(other.path(DERIVATIVES), "grad * result.conj()\n", "grad * reslt.conj()\n")
    assert len(await editor.diagnostics(other.path(DERIVATIVES))) == 1
    assert await editor.diagnostics(built.path(DERIVATIVES)) == []


@pytest.mark.asyncio(loop_scope="module")
async def test_the_settings_file_around_a_file_counts(wandering: Editor, built: Project) -> None:
    """A set that names no release has that of the settings file; a wrong one is shown in place of errors."""
    path, release, settings = built.path(DERIVATIVES), built.specs / "RELEASE", built.folder / "gradmill.toml"
    text = release.read_text().strip()
    release.unlink()
    settings.write_text(f'release = "{text}"\n')
    assert await wandering.open(path) == []
    settings.write_text("relese = 1\n")
    wandering.changed_on_disk(settings)
    (diagnostic,) = await wandering.edit(path, "grad * result.conj()\n", "grad * result.conj() * 1\n")
    assert "gradmill.toml:1:1: relese: there is no such variable" in diagnostic.message
    settings.write_text(f'specs = "set"\nrelease = "{text}"\n')
    wandering.changed_on_disk(settings)
    assert await wandering.edit(path, "grad * result.conj() * 1\n", "grad * result.conj()\n") == []


@pytest.mark.asyncio(loop_scope="module")
async def test_a_file_of_no_set_is_reported_or_left_alone(wandering: Editor, built: Project, tmp_path: Path) -> None:
    """Derivatives alone are no set: this is reported. Other YAML files get no report."""
    lonely, other = tmp_path / "alone" / DERIVATIVES, tmp_path / "alone" / "workflow.yaml"
    lonely.parent.mkdir()
    for path in (lonely, other):
        path.write_text("- name: mv(Tensor self, Tensor vec) -> Tensor\n  self: grad\n")
    (diagnostic,) = await wandering.open(lonely)
    assert diagnostic.severity == types.DiagnosticSeverity.Information
    assert "part of no spec set" in diagnostic.message
    await wandering.open(other, wait=False)
    assert await wandering.hover(other, "- name: mv(", 9) == ""
    document, place = types.TextDocumentIdentifier(other.as_uri()), types.Position(0, 9)
    here, client = types.Range(place, place), wandering.client
    assert await wandering.references(other, "- name: mv(", 9) == [] and await wandering.actions(other, "mv(") == {}
    for response in (
        client.text_document_document_symbol_async(types.DocumentSymbolParams(document)),
        client.text_document_folding_range_async(types.FoldingRangeParams(document)),
        client.text_document_inlay_hint_async(types.InlayHintParams(document, here)),
        client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document)),
        client.text_document_semantic_tokens_full_delta_async(types.SemanticTokensDeltaParams(document, "1")),
        client.text_document_semantic_tokens_range_async(types.SemanticTokensRangeParams(document, here)),
        client.text_document_signature_help_async(types.SignatureHelpParams(document, place)),
        client.text_document_code_lens_async(types.CodeLensParams(document)),
    ):
        assert await response is None
    assert await wandering.open(built.path(DERIVATIVES)) == []
    assert other.as_uri() not in wandering.shown


@pytest.mark.asyncio(loop_scope="module")
async def test_a_file_that_is_broken_when_it_is_opened_is_mended(wandering: Editor, built: Project) -> None:
    path = built.path(DERIVATIVES)
    text = path.read_text()
    path.write_text(text.replace("grad * result.conj()\n", "{grad * result.conj()\n"))
    (diagnostic,) = await wandering.open(path)
    assert "not YAML" in diagnostic.message
    assert await wandering.edit(path, "{grad", "grad") == []


def spoken(folder: Path, *messages: dict[str, Any] | bytes) -> tuple[int, dict[int, Any]]:
    """What a server answers, by the number of the request, to messages as they stand; and its exit status."""
    bodies = [
        each if isinstance(each, bytes) else json.dumps({"jsonrpc": "2.0", **each}).encode()
        for each in (START, *messages)
    ]
    run = subprocess.run(
        [sys.executable, "-m", "gradmill", "lsp"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "pipeline")},
        input=b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies),
        check=False,
        capture_output=True,
        timeout=60,
    )
    assert b"RecursionError" not in run.stderr and b"UnicodeDecodeError" not in run.stderr  # with a traceback
    answers = [json.loads(body) for body in re.findall(rb"(?<=\r\n\r\n){.*?}(?=Content-Length|$)", run.stdout)]
    return run.returncode, {answer["id"]: answer for answer in answers if "id" in answer}


def test_each_request_is_answered(tmp_path: Path) -> None:
    """Also one that makes no sense, and one that comes too late."""
    place = {"textDocument": {"uri": "file:///x.yaml"}, "position": {"line": -1, "character": 0}}
    wrong = {"id": 2, "method": "textDocument/hover", "params": place}
    late = {"id": 4, "method": "textDocument/hover", "params": {**place, "position": {"line": 0, "character": 0}}}
    deep = b'{"jsonrpc": "2.0", "id": 5, "method": "textDocument/hover", "params":' + b"[" * 3_000
    status, answers = spoken(tmp_path, wrong, deep, b"\xff", SHUTDOWN, late, EXIT)
    assert status == 0
    assert {number: answer.get("error", {}).get("code") for number, answer in answers.items()} == {
        1: None,
        2: -32602,  # invalid params
        3: None,
        4: -32600,  # invalid request
    }


@pytest.mark.slow
@pytest.mark.asyncio
async def test_code_that_changes_under_it_is_reported_once_and_ends_in_peace(
    own_code: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(own_code.root / "pipeline"))
    editor = await Editor.of(own_code)
    path = own_code.path(DERIVATIVES)
    assert await editor.open(path) == []
    (own_code.root / "pipeline" / "gradmill" / "stages" / "shard.py").touch()
    editor.type(path, "grad * result.conj()\n", "grad * 2 * result.conj()\n")
    await asyncio.sleep(REST + IDLE + 0.5)
    assert editor.messages == ["gradmill's own code changed: start the language server again"]
    await editor.end_in_peace()


# Run by the server before it starts: the query of infos fails on results of earlier runs, or always.
FRAGILE = """
import functools
import gradmill.stages.infos as infos
sound = infos.infos_of.function
@functools.wraps(sound)
def fragile(db, name):
    if name == "exp" and (CONDITION):
        raise KeyError(name)
    return sound(db, name)
infos.infos_of.function = fragile
"""


@pytest.mark.asyncio
async def test_a_bug_on_the_results_of_earlier_runs_is_reported_and_the_answers_are_right(built: Project) -> None:
    editor = await Editor.of(built, patch=FRAGILE.replace("CONDITION", "db.is_warm"))
    path = built.path(DERIVATIVES)
    assert await editor.open(path) == []
    (found,) = await editor.edit(path, "self: grad * result.conj()\n", "self: grad * reslt.conj()\n")
    assert "reslt" in found.message
    (message,) = editor.messages
    assert message.startswith("a bug of gradmill: this fails on the results of earlier runs") and "KeyError" in message
    assert "in fragile" in editor.errors.read_text()
    assert await editor.edit(path, "self: grad * reslt.conj()\n", "self: grad * result.conj()\n") == []
    assert await editor.end() == 0


@pytest.mark.asyncio
async def test_a_bug_is_reported_to_the_editor_which_goes_on(built: Project) -> None:
    misspelt = 'b"reslt" in db.inputs["spec/derivatives"].data'
    editor = await Editor.of(built, patch=FRAGILE.replace("CONDITION", misspelt))
    path = built.path(DERIVATIVES)
    assert await editor.open(path) == []
    editor.type(path, "self: grad * result.conj()\n", "self: grad * reslt.conj()\n")
    await editor.until(lambda: editor.messages)
    assert editor.messages[0].startswith("a bug of gradmill: KeyError: 'exp'; ")
    assert await editor.edit(path, "self: grad * reslt.conj()\n", "self: grad * result.conj()\n") == []
    assert len(set(editor.messages)) == 1
    assert await editor.end() == 0


def test_an_end_without_notice_is_a_failure(tmp_path: Path) -> None:
    assert spoken(tmp_path, SHUTDOWN, EXIT)[0] == 0
    assert spoken(tmp_path, EXIT)[0] == 1


@pytest.mark.slow(11)
@pytest.mark.parametrize("number", ["gone", "of another machine", "too large"])
def test_it_ends_with_the_editor_though_another_process_has_the_pipe(tmp_path: Path, number: str) -> None:
    """An editor that is not there at the start runs elsewhere: only the end of the pipe tells its end then."""
    with subprocess.Popen(["sleep", "60"]) as editor:
        start = {**START, "params": {**START["params"], "processId": 2**70 if number == "too large" else editor.pid}}
        if number == "of another machine":
            editor.kill()
            editor.wait()
        server = subprocess.Popen(
            [sys.executable, "-m", "gradmill", "lsp"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT / "pipeline")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert server.stdin is not None and server.stdout is not None
        body = json.dumps({"jsonrpc": "2.0", **start}).encode()
        server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        server.stdin.flush()
        server.stdout.readline()  # it has started
        editor.kill()
    if number == "gone":
        assert server.wait(60) == 1
    else:
        with pytest.raises(subprocess.TimeoutExpired):
            server.wait(2 * LOOK)
        server.stdin.close()
        assert server.wait(60) == 0


def test_it_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['pygls'] = None; from gradmill.cli.start.command import run; run()"
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


@pytest.mark.slow
@pytest.mark.asyncio
async def test_the_files_of_a_backend_are_those_of_its_layers(torch_specs: Path, tmp_path: Path) -> None:
    """The description is found above the file; names are those of the base and of the layer; lines are the file's."""
    shutil.copytree(ROOT / "examples" / "vendor", tmp_path / "vendor")
    derivatives = tmp_path / "vendor" / "specs" / "toy_derivatives.yaml"
    functions = tmp_path / "vendor" / "specs" / "toy_functions.yaml"
    editor = await Editor.start(tmp_path, f"cache={tmp_path / 'cache'}")
    assert await editor.open(derivatives) == []
    assert await editor.open(functions) == []
    line = next(line for line in derivatives.read_text().split("\n") if "- name: " in line)
    op = line.partition("name: ")[2].partition("(")[0]
    assert f"{op}(" in await editor.hover(derivatives, line, after=line.index(op) + 1)
    assert any(title.endswith("made from it") for title in (await editor.lenses(derivatives)).values())
    found = {name for name, _ in await editor.references(derivatives, line, line.index(op) + 1)}
    assert found >= {"toy_derivatives.yaml", "native_functions.yaml"}, "the base has the schema"
    document, whole = types.TextDocumentIdentifier(derivatives.as_uri()), types.Range(PLACE, types.Position(999, 0))
    hints = await editor.client.text_document_inlay_hint_async(types.InlayHintParams(document, whole))
    assert [each for each in hints or [] if "Backward" in str(each.label)]
    tokens = await editor.client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document))
    kinds = {LEGEND.token_types[number] for number in tokens.data[3::5]} if tokens is not None else set()
    assert "parameter" in kinds and "unresolvedReference" not in kinds
    (diagnostic,) = await editor.edit(derivatives, line, line.replace("(Tensor self", "(Tensor slf"))
    assert (
        f"{op.partition('.')[0]}: name: native_functions.yaml names the argument 'self', not 'slf'"
        in diagnostic.message
    )
    assert editor.text_at(derivatives.as_uri(), diagnostic.range) == "slf"
    await editor.edit(derivatives, line.replace("(Tensor self", "(Tensor slf"), "      - {" + line)
    assert await editor.edit(derivatives, "      - {" + line, line) == []
    assert (await editor.end(), editor.errors.read_text()) == (0, "")
