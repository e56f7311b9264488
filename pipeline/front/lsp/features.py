"""Registers a handler for each request and notification of the protocol that the server supports."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pipeline.front.lsp import answers, files
from pipeline.front.lsp.actions import KINDS, actions
from pipeline.front.lsp.answers import EditorRequest, request_at
from pipeline.front.lsp.buffers import path_of
from pipeline.front.lsp.lenses import lenses, verification_lenses
from pipeline.front.lsp.tokens import LEGEND
from pipeline.front.lsp.verifying import can_verify, register_command
from pipeline.problems.problem import SpecError
from pipeline.reports.editor.rebuilt import costs

if TYPE_CHECKING:
    from pipeline.front.lsp.server import Server

_START = types.Position(0, 0)
_WAIT = 0.05  # seconds between two looks whether a set is checked completely
_INVALID = -32602  # the protocol's error code InvalidParams
_TRIGGERS = (":", ".", " ", ",", "(")  # characters that trigger a completion

Answer = Callable[[EditorRequest, Any], Any]  # from a request and its parameters


class Refused(JsonRpcException):
    """The response to a request that cannot be fulfilled, such as an invalid rename."""


def register(server: Server) -> None:
    """Registers all handlers with the server."""
    _register_notifications(server)
    for method, (answer, options) in _ANSWERS.items():
        server.feature(method, options)(partial(_answered, server, answer))
    _register_others(server)
    register_command(server)


def _register_notifications(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        server.open(document.uri, document.text, document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.change(params.text_document.uri, list(params.content_changes), params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.leave(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.saved(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(params: types.DidChangeWatchedFilesParams) -> None:
        for change in params.changes:
            server.saved(change.uri)


def _register_others(server: Server) -> None:
    """Registers what is answered later, or without a file that is open and in a set."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lens(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        uri = params.text_document.uri
        request = request_at(server, uri, _START)
        while request is not None and server.is_behind(request.session):  # no key waits for the check of the whole set
            await asyncio.sleep(_WAIT)
            request = request_at(server, uri, _START)
        if request is None:
            return None
        server.complete(request.session)
        if request.session.failed:
            return None
        return _lenses(request, uri)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=KINDS))
    def action(params: types.CodeActionParams) -> list[types.CodeAction]:
        path = path_of(params.text_document.uri)
        return actions(server, path, params) if path in server.buffers else []

    @server.feature(types.WORKSPACE_SYMBOL)
    def of_sets(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        return files.workspace_symbols(server, params.query)


def _lenses(request: EditorRequest, uri: str) -> list[types.CodeLens]:
    """The lenses of a file whose set was checked completely."""
    session, encoding = request.session, request.server.encoding
    own = costs(session.db, request.cursor.role, session.files.key(request.path))
    shown = lenses(own, request.text, encoding)
    if request.cursor.role != "derivatives" or not can_verify():
        return shown
    states = session.verified.entry_states() if session.verified is not None else {}
    return [*shown, *verification_lenses(own, states, session.verifying, request.text, uri, encoding)]


def _answered(server: Server, answer: Answer, params: Any) -> Any:
    """The answer to a request about a file. None if the file is not open or in no spec set."""
    request = request_at(server, params.text_document.uri, getattr(params, "position", _START))
    return None if request is None else answer(request, params)


def _renamed(request: EditorRequest, params: types.RenameParams) -> types.WorkspaceEdit:
    try:
        return answers.renamed(request, params.new_name)
    except SpecError as error:
        raise Refused(f"{error.problem}: {error.hint}", _INVALID) from None


# How requests about an open file of a set, or a place in one, are answered; and the options of these features.
_ANSWERS: dict[str, tuple[Answer, object]] = {
    types.TEXT_DOCUMENT_COMPLETION: (
        lambda request, _: answers.completions(request),
        types.CompletionOptions(trigger_characters=_TRIGGERS),
    ),
    types.TEXT_DOCUMENT_HOVER: (lambda request, _: answers.hovered(request), None),
    types.TEXT_DOCUMENT_DEFINITION: (lambda request, _: answers.declared(request), None),
    types.TEXT_DOCUMENT_REFERENCES: (
        lambda request, params: answers.referred(request, declared=params.context.include_declaration),
        None,
    ),
    types.TEXT_DOCUMENT_SIGNATURE_HELP: (
        lambda request, _: answers.signature(request),
        types.SignatureHelpOptions(trigger_characters=["(", ","]),
    ),
    types.TEXT_DOCUMENT_PREPARE_RENAME: (lambda request, _: answers.renamable(request), None),
    types.TEXT_DOCUMENT_RENAME: (_renamed, types.RenameOptions(prepare_provider=True)),
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (lambda request, _: files.document_symbols(request), None),
    types.TEXT_DOCUMENT_FOLDING_RANGE: (lambda request, _: files.folding(request), None),
    types.TEXT_DOCUMENT_INLAY_HINT: (lambda request, params: files.inlay_hints(request, params.range), None),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: (lambda request, _: files.tokens(request), LEGEND),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA: (
        lambda request, params: files.tokens_since(request, params.previous_result_id),
        None,
    ),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: (lambda request, params: files.tokens(request, params.range), None),
}
