"""Registers a handler for each request and notification of the protocol that the server supports."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pipeline.front.lsp import answers, files
from pipeline.front.lsp.actions import KINDS, actions
from pipeline.front.lsp.buffers import path_of
from pipeline.front.lsp.lenses import lenses
from pipeline.front.lsp.symbols import Sent
from pipeline.front.lsp.tokens import LEGEND
from pipeline.problems.problem import SpecError
from pipeline.reports.editor.rebuilt import costs

if TYPE_CHECKING:
    from pipeline.front.lsp.server import Server

_START = types.Position(0, 0)
_WAIT = 0.05  # seconds between two looks whether a set is checked completely
_INVALID = -32602  # the protocol's error code InvalidParams
_TRIGGERS = (":", ".", " ", ",", "(")  # characters that trigger a completion


class Refused(JsonRpcException):
    """The response to a request that cannot be fulfilled, such as an invalid rename."""


def register(server: Server) -> None:
    """Registers all handlers with the server."""
    _files(server)
    _places(server)
    _renaming(server)
    _of_files(server)
    _symbols(server)
    _tokens(server)


def _files(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        server.open(document.uri, document.text, document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        server.change(params.text_document.uri, list(params.content_changes), params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        server.leave(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
        server.saved(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
        for change in params.changes:
            server.saved(change.uri)


def _places(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=_TRIGGERS))
    def completion(ls: Server, params: types.CompletionParams) -> types.CompletionList | None:
        at = answers.asked(server, params.text_document.uri, params.position)
        return None if at is None else answers.completions(at)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        at = answers.asked(server, params.text_document.uri, params.position)
        return None if at is None else answers.hovered(at)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(ls: Server, params: types.DefinitionParams) -> list[types.Location] | None:
        at = answers.asked(server, params.text_document.uri, params.position)
        return None if at is None else answers.declared(at)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(ls: Server, params: types.ReferenceParams) -> list[types.Location] | None:
        at = answers.asked(server, params.text_document.uri, params.position)
        return None if at is None else answers.referred(at, declared=params.context.include_declaration)

    @server.feature(types.TEXT_DOCUMENT_SIGNATURE_HELP, types.SignatureHelpOptions(trigger_characters=["(", ","]))
    def signature(ls: Server, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        at = answers.asked(server, params.text_document.uri, params.position)
        return None if at is None else answers.signature(at)


def _renaming(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(ls: Server, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        at = answers.asked(server, params.text_document.uri, params.position)
        return None if at is None else answers.renamable(at)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(ls: Server, params: types.RenameParams) -> types.WorkspaceEdit | None:
        at = answers.asked(server, params.text_document.uri, params.position)
        try:
            return None if at is None else answers.renamed(at, params.new_name)
        except SpecError as error:
            raise Refused(f"{error.problem}: {error.hint}", _INVALID) from None


def _of_files(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lens(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens] | None:
        at = answers.asked(server, params.text_document.uri, _START)
        while at is not None and server.is_behind(at.session):  # no key waits for the check of the whole set
            await asyncio.sleep(_WAIT)
            at = answers.asked(server, params.text_document.uri, _START)
        if at is None:
            return None
        server.complete(at.session)
        if at.session.failed:
            return None
        key = at.session.files.key(at.path)
        return lenses(costs(at.session.db, at.cursor.role, key), at.text, server.encoding)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=KINDS))
    def action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
        path = path_of(params.text_document.uri)
        return actions(server, path, params) if path in server.buffers else []


def _symbols(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def of_file(ls: Server, params: types.DocumentSymbolParams) -> list[Sent] | None:
        at = answers.asked(server, params.text_document.uri, _START)
        return None if at is None else files.document_symbols(at)

    @server.feature(types.WORKSPACE_SYMBOL)
    def of_sets(ls: Server, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        return files.workspace_symbols(server, params.query)

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def folding(ls: Server, params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        at = answers.asked(server, params.text_document.uri, _START)
        return None if at is None else files.folding(at)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def hints(ls: Server, params: types.InlayHintParams) -> list[types.InlayHint] | None:
        at = answers.asked(server, params.text_document.uri, _START)
        return None if at is None else files.inlay_hints(at, params.range)


def _tokens(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    def full(ls: Server, params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        at = answers.asked(server, params.text_document.uri, _START)
        return None if at is None else files.tokens(at)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA)
    def delta(
        ls: Server, params: types.SemanticTokensDeltaParams
    ) -> types.SemanticTokens | types.SemanticTokensDelta | None:
        at = answers.asked(server, params.text_document.uri, _START)
        return None if at is None else files.tokens_since(at, params.previous_result_id)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE)
    def within(ls: Server, params: types.SemanticTokensRangeParams) -> types.SemanticTokens | None:
        at = answers.asked(server, params.text_document.uri, _START)
        return None if at is None else files.tokens(at, params.range)
