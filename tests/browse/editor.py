"""An editor to test the language server with: the client of pytest-lsp, and what an editor does with it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from project import Project
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient

PATIENCE = 60  # seconds
MARK = "\u00a6"  # stands in a text that is typed where the cursor is then

DERIVATIVES, NATIVE, TAGS = "derivatives.yaml", "native_functions.yaml", "tags.yaml"


class Editor:
    """A server, and the files that are open in it."""

    def __init__(self, client: LanguageClient, errors: Path) -> None:
        self.client = client
        self.errors = errors  # what the server writes to standard error
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.shown: dict[str, types.PublishDiagnosticsParams] = {}
        self.published: list[types.PublishDiagnosticsParams] = []
        self.refreshed = 0  # how often it was asked to request lenses again
        self.messages: list[str] = []  # that it showed
        self.renamed = 0  # how often it was asked to request tokens or hints again
        self._news = asyncio.Condition()

    @classmethod
    async def start(cls, folder: Path, *words: str, patch: str = "") -> Editor:
        """Starts `gradmill lsp` in a folder. `patch`: Python that its process runs before."""
        errors = folder / "lsp-stderr"
        code = f"import sys, os; os.chdir({str(folder)!r}); sys.stderr = open({str(errors)!r}, 'w', buffering=1)\n"
        code += f"{patch}\nfrom gradmill.cli.start.command import run; run()"
        config = ClientServerConfig(server_command=[sys.executable, "-c", code, "lsp", *words])
        client = LanguageClient(converter_factory=default_converter)
        editor = cls(client, errors)

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def published(ls: LanguageClient, params: types.PublishDiagnosticsParams) -> None:
            editor.published.append(params)
            editor.shown[params.uri] = params
            async with editor._news:
                editor._news.notify_all()

        @client.feature(types.WINDOW_SHOW_MESSAGE)
        async def messages(ls: LanguageClient, params: types.ShowMessageParams) -> None:
            editor.messages.append(params.message)
            async with editor._news:
                editor._news.notify_all()

        @client.feature(types.WORKSPACE_CODE_LENS_REFRESH)
        async def refreshed(ls: LanguageClient, params: None) -> None:
            editor.refreshed += 1
            async with editor._news:
                editor._news.notify_all()

        @client.feature(types.WORKSPACE_SEMANTIC_TOKENS_REFRESH)
        @client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)
        async def renamed(ls: LanguageClient, params: None) -> None:
            editor.renamed += 1
            async with editor._news:
                editor._news.notify_all()

        await client.start_io(*config.server_command)
        lenses = types.CodeLensWorkspaceClientCapabilities(refresh_support=True)
        tokens = types.SemanticTokensWorkspaceClientCapabilities(refresh_support=True)
        hints = types.InlayHintWorkspaceClientCapabilities(refresh_support=True)
        workspace = types.WorkspaceClientCapabilities(code_lens=lenses, semantic_tokens=tokens, inlay_hint=hints)
        await client.initialize_session(types.InitializeParams(types.ClientCapabilities(workspace)))
        return editor

    @classmethod
    async def of(cls, project: Project, *words: str, patch: str = "") -> Editor:
        """The same for a project."""
        variables = (f"specs={project.specs}", f"generated={project.generated}", f"cache={project.cache}")
        return await cls.start(project.folder, *variables, *words, patch=patch)

    @classmethod
    @asynccontextmanager
    async def editing(cls, project: Project, *names: str) -> AsyncIterator[Editor]:
        """An editor on a project, some of whose files are open and have no errors; its server ends normally."""
        response = await cls.of(project)
        for name in names:
            assert await response.open(project.path(name)) == []
        yield response
        await response.end_in_peace()

    async def end_in_peace(self) -> None:
        """Ends the server, which has no error to tell."""
        assert (await self.end(), self.errors.read_text()) == (0, "")

    async def end(self) -> int | None:
        """Ends the server; gives its exit status."""
        await self.client.shutdown_session()
        server = self.client._server
        status = None if server is None else server.returncode
        await self.client.stop()
        return status

    # ---- files

    async def open(self, path: Path, *, wait: bool = True) -> list[types.Diagnostic]:
        """Opens a file; gives what is shown in it."""
        uri = path.as_uri()
        self.texts[uri], self.versions[uri] = path.read_bytes().decode(), 1
        item = types.TextDocumentItem(uri, "yaml", 1, self.texts[uri])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.diagnostics(path) if wait else []

    def type(self, path: Path, old: str, new: str) -> types.Position:
        """Replaces the one place where a text stands; gives where the mark is in the new one, or where that starts."""
        uri = path.as_uri()
        text = self.texts[uri]
        assert text.count(old) == 1, f"{text.count(old)} of {old!r}"
        at, mark = text.index(old), max(new.find(MARK), 0)
        new = new.replace(MARK, "")
        start, end = place_of(text, at), place_of(text, at + len(old))
        self.texts[uri] = text[:at] + new + text[at + len(old) :]
        self.versions[uri] += 1
        change = types.TextDocumentContentChangePartial(types.Range(start, end), new)
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        return place_of(self.texts[uri], at + mark)

    async def edit(self, path: Path, old: str, new: str) -> list[types.Diagnostic]:
        """The same; gives what is shown then."""
        self.type(path, old, new)
        return await self.diagnostics(path)

    async def restore(self) -> None:
        """Takes back all that was typed."""
        for path in (Path(uri.removeprefix("file://")) for uri in self.texts):
            saved, uri = path.read_bytes().decode(), path.as_uri()
            if saved != self.texts[uri]:
                self.texts[uri] = saved
                self.versions[uri] += 1
                document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
                change = types.TextDocumentContentChangeWholeDocument(saved)
                self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
                await self.diagnostics(path)

    async def diagnostics(self, path: Path) -> list[types.Diagnostic]:
        """What is shown in a file that is open, as it is by now."""
        uri = path.as_uri()
        await self.until(lambda: uri in self.shown and self.shown[uri].version == self.versions[uri])
        start = types.Position(0, 0)
        params = types.PrepareRenameParams(types.TextDocumentIdentifier(uri), start)
        await self.client.text_document_prepare_rename_async(params)  # after all notifications of other files
        return list(self.shown[uri].diagnostics)

    async def until(self, what: Any, *, patience: float = PATIENCE) -> None:
        """Waits for something to be shown, so many seconds at most."""
        async with self._news, asyncio.timeout(patience):
            await self._news.wait_for(what)

    def close(self, path: Path) -> None:
        document = types.TextDocumentIdentifier(path.as_uri())
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))

    def save(self, path: Path) -> None:
        """Writes a file as it is in the editor."""
        path.write_bytes(self.texts[path.as_uri()].encode())
        document = types.TextDocumentIdentifier(path.as_uri())
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(document))

    def changed_on_disk(self, *paths: Path) -> None:
        """Notifies the server of files that another program changed."""
        changes = [types.FileEvent(path.as_uri(), types.FileChangeType.Changed) for path in paths]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))

    # ---- questions

    def at(self, path: Path, text: str, *, after: int | None = None) -> dict[str, Any]:
        """The place where a text that stands once starts, or so many characters later."""
        whole = self.texts[path.as_uri()]
        assert whole.count(text) == 1, f"{whole.count(text)} of {text!r}"
        place = place_of(whole, whole.index(text) + (len(text) if after is None else after))
        return {"text_document": types.TextDocumentIdentifier(path.as_uri()), "position": place}

    async def offered(self, path: Path, old: str, new: str) -> list[types.CompletionItem]:
        """What is offered at the mark, when something was typed."""
        place = self.type(path, old, new)
        params = types.CompletionParams(types.TextDocumentIdentifier(path.as_uri()), place)
        return list((await self.client.text_document_completion_async(params)).items)

    async def hover(self, path: Path, text: str, after: int = 1) -> str:
        hover = await self.client.text_document_hover_async(types.HoverParams(**self.at(path, text, after=after)))
        return "" if hover is None else hover.contents.value

    async def definition(self, path: Path, text: str, after: int = 1) -> list[tuple[str, str]]:
        """The files, and what stands at the places in them."""
        params = types.DefinitionParams(**self.at(path, text, after=after))
        location = await self.client.text_document_definition_async(params)
        return [(Path(each.uri).name, self.text_at(each.uri, each.range)) for each in location or []]

    async def references(self, path: Path, text: str, after: int, *, declared: bool = True) -> list[tuple[str, str]]:
        """The files, and the lines with the places in brackets."""
        context = types.ReferenceContext(declared)
        params = types.ReferenceParams(**self.at(path, text, after=after), context=context)
        found = await self.client.text_document_references_async(params)
        return [(Path(each.uri).name, self.marked(each.uri, each.range)) for each in found or []]

    def marked(self, uri: str, place: types.Range) -> str:
        """The line of a place, with the place in brackets."""
        text = self.texts.get(uri) or Path(uri.removeprefix("file://")).read_text()
        line = text.split("\n")[place.start.line]
        start, end = place.start.character, place.end.character
        return f"{line[:start]}[{line[start:end]}]{line[end:]}".strip()

    async def signature(self, path: Path, old: str, new: str) -> types.SignatureHelp | None:
        """The signatures at the mark, when something was typed."""
        place = self.type(path, old, new)
        params = types.SignatureHelpParams(types.TextDocumentIdentifier(path.as_uri()), place)
        return await self.client.text_document_signature_help_async(params)

    async def actions(self, path: Path, text: str, *kinds: str) -> dict[str, types.CodeAction]:
        """The code actions at a text that stands once, by title and kind."""
        place = self.at(path, text, after=0)["position"]
        context = types.CodeActionContext([], only=list(kinds) or None)
        document = types.TextDocumentIdentifier(path.as_uri())
        params = types.CodeActionParams(document, types.Range(place, place), context)
        found = await self.client.text_document_code_action_async(params)
        return {each.title: each for each in found or []}

    def text_at(self, uri: str, place: types.Range) -> str:
        """What stands at a place, as the editor counts."""
        text = self.texts.get(uri) or Path(uri.removeprefix("file://")).read_text()
        return text[offset_of(text, place.start) : offset_of(text, place.end)]

    async def lenses(self, path: Path) -> dict[str, str]:
        """What stands above the lines of a file about what is made from them, by line."""
        return {line: each.title for line, each in await self._lenses(path) if not each.command}

    async def verifications(self, path: Path) -> dict[str, types.Command]:
        """The commands above the lines of a file that verify formulas, by line."""
        return {line: each for line, each in await self._lenses(path) if each.command}

    async def _lenses(self, path: Path) -> list[tuple[str, types.Command]]:
        document = types.TextDocumentIdentifier(path.as_uri())
        lenses = await self.client.text_document_code_lens_async(types.CodeLensParams(document))
        lines = self.texts[path.as_uri()].split("\n")
        return [(lines[lens.range.start.line], lens.command) for lens in lenses or [] if lens.command]

    def applied(self, edit: types.WorkspaceEdit) -> dict[str, str]:
        """The files, by name, as an edit leaves them."""
        assert edit.changes is not None
        result = {}
        for uri, edits in edit.changes.items():
            text = self.texts.get(uri) or Path(uri.removeprefix("file://")).read_text()
            for each in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
                start, end = offset_of(text, each.range.start), offset_of(text, each.range.end)
                text = text[:start] + each.new_text + text[end:]
            result[Path(uri).name] = text
        return result


def place_of(text: str, at: int) -> types.Position:
    """An offset as an editor counts: in UTF-16."""
    before = text[:at]
    line = before.rpartition("\n")[2]
    return types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)


def offset_of(text: str, place: types.Position) -> int:
    """The other way round."""
    lines = text.split("\n")
    line = lines[place.line].encode("utf-16-le")[: place.character * 2].decode("utf-16-le")
    return sum(len(each) + 1 for each in lines[: place.line]) + len(line)
