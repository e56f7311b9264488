"""Answers about any text that may be typed: none fails, and all places are in the text."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from copies import copy_of
from lsprotocol import types
from project import Project

from browse.editor import DERIVATIVES, NATIVE
from browse.test_broken import typed
from gradmill.extensions.browse.lsp import actions, answers, files
from gradmill.extensions.browse.lsp.buffers import Buffer
from gradmill.extensions.browse.lsp.server import Server
from gradmill.extensions.browse.lsp.symbols import converter
from gradmill.extensions.browse.lsp.tokens import LEGEND
from gradmill.session.own_code import running_code

TIMES = 40


class Typing(Server):
    """A server without an editor."""

    encoding = "utf-16"
    client_capabilities = types.ClientCapabilities()

    def _publish(self, path: str, shown: list[types.Diagnostic]) -> None:
        self._shown[path] = shown


@pytest.mark.slow
@pytest.mark.asyncio
@pytest.mark.parametrize("name", [DERIVATIVES, NATIVE])
async def test_every_text_is_answered(name: str, small_built: Project, tmp_path: Path) -> None:
    project, random = copy_of(small_built, tmp_path), Random(name)
    server = Typing({key: str(getattr(project, key)) for key in ("specs", "generated", "cache")}, running_code())
    path = project.path(name)
    good = text = path.read_bytes()
    server.open(path.as_uri(), good.decode(), 0)
    for version in range(TIMES):
        text = typed(random.choice([text, good]), random) or good
        server.buffers[str(path)] = Buffer(path.as_uri(), text.decode("utf-8", "replace"), version)
        if random.random() < 0.2:
            server.saved(path.as_uri())
        answer_all(server, path, random)
    server.sets.close()


def answer_all(server: Server, path: Path, random: Random) -> None:
    lines = server.buffers[str(path)].lines
    whole = types.Range(types.Position(0, 0), types.Position(len(lines), 0))
    for _ in range(3):
        line = random.randrange(len(lines))
        at = answers.request_at(server, path.as_uri(), types.Position(line, random.randrange(len(lines[line]) + 1)))
        assert at is not None
        for location in (*answers.referred(at, declared=True), *answers.declared(at)):
            assert location.range.start.line == location.range.end.line
        answers.signature(at), answers.completions(at), answers.hovered(at)
    for symbol in converter().structure(files.document_symbols(at), list[types.DocumentSymbol]):
        for outer, inner in [(symbol, symbol), *((symbol, child) for child in symbol.children or ())]:
            assert outer.range.start <= inner.selection_range.start
            assert inner.selection_range.end <= outer.range.end <= types.Position(len(lines), 0)
    numbers = files.tokens(at).data
    assert all(number >= 0 for number in numbers) and all(numbers[2::5])
    assert all(kind < len(LEGEND.token_types) for kind in numbers[3::5])
    assert all(0 <= fold.start_line < fold.end_line < len(lines) for fold in files.folding(at))
    assert all(hint.position.line < len(lines) for hint in files.inlay_hints(at, whole))
    context = types.CodeActionContext([])
    document = types.TextDocumentIdentifier(path.as_uri())
    actions.actions(server, str(path), types.CodeActionParams(document, whole, context))
    assert any(files.workspace_symbols(server, letter) for letter in "abcdefghij")  # typing may delete any one name
