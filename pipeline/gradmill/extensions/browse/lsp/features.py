"""Serves one editor: a handler for each request and notification of the protocol that the server supports."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from functools import partial
from json import JSONDecodeError
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from gradmill.doors import checker
from gradmill.extensions.browse.editor.rebuilt import costs
from gradmill.extensions.browse.lsp import answers, files
from gradmill.extensions.browse.lsp.actions import KINDS, actions
from gradmill.extensions.browse.lsp.answers import EditorRequest, request_at
from gradmill.extensions.browse.lsp.buffers import path_of
from gradmill.extensions.browse.lsp.lenses import lenses, register_command, verification_lenses
from gradmill.extensions.browse.lsp.protocol import Protocol
from gradmill.extensions.browse.lsp.server import Server
from gradmill.extensions.browse.lsp.tokens import LEGEND
from gradmill.problems.problem import SpecError
from gradmill.session.own_code import running_code

_START = types.Position(0, 0)
_WAIT = 0.05  # seconds between two looks whether a set is checked completely
_INVALID = -32602  # the protocol's error code InvalidParams
_NO_MESSAGE = (JSONDecodeError, JsonRpcException, RecursionError, UnicodeDecodeError)

Answer = Callable[[EditorRequest, Any], Any]  # from a request and its parameters


class Refused(JsonRpcException):
    """The response to a request that cannot be fulfilled, such as an invalid rename."""


def serve(variables: Mapping[str, str]) -> int:
    """Serves the editor on standard input and output until it ends the session. Returns the exit status: 1 if the
    editor sent no `shutdown` before. CodeChanged as in `OwnCode.take`."""
    log = logging.StreamHandler(sys.stderr)
    log.addFilter(_logged)
    logging.basicConfig(level=logging.ERROR, handlers=[log])
    server = Server(variables, running_code())
    _register(server)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out, redirect_stdout(sys.stderr):  # for the protocol
        try:
            server.start_io(stdout=out)
        finally:
            server.sets.close()
    return int(isinstance(server.protocol, Protocol) and server.protocol.without_notice)


def _logged(record: logging.LogRecord) -> bool:
    """Whether a record is logged: a refusal is not. What an editor sent that is no message is, in one line."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, _NO_MESSAGE):
        record.msg, record.args, record.exc_info = f"{record.getMessage()}: {error}", (), None
    return not isinstance(error, Refused)


def _register(server: Server) -> None:
    _register_notifications(server)
    for method, answer in _ANSWERS.items():
        server.feature(method, _OPTIONS.get(method))(partial(_answered, server, answer))
    _register_others(server)
    register_command(server)


def _register_notifications(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def started(params: types.InitializeParams) -> None:
        server.watch(params.process_id or 0)

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
    verdicts = checker()
    if request.cursor.role != "derivatives" or verdicts is None or not verdicts.can_verify():
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


# How requests about an open file of a set, or a place in one, are answered.
_ANSWERS: dict[str, Answer] = {
    types.TEXT_DOCUMENT_COMPLETION: lambda at, _: answers.completions(at),
    types.TEXT_DOCUMENT_HOVER: lambda at, _: answers.hovered(at),
    types.TEXT_DOCUMENT_DEFINITION: lambda at, _: answers.declared(at),
    types.TEXT_DOCUMENT_REFERENCES: lambda at, params: answers.referred(
        at, declared=params.context.include_declaration
    ),
    types.TEXT_DOCUMENT_SIGNATURE_HELP: lambda at, _: answers.signature(at),
    types.TEXT_DOCUMENT_PREPARE_RENAME: lambda at, _: answers.renamable(at),
    types.TEXT_DOCUMENT_RENAME: _renamed,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: lambda at, _: files.document_symbols(at),
    types.TEXT_DOCUMENT_FOLDING_RANGE: lambda at, _: files.folding(at),
    types.TEXT_DOCUMENT_INLAY_HINT: lambda at, params: files.inlay_hints(at, params.range),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: lambda at, _: files.tokens(at),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA: lambda at, params: files.tokens_since(
        at, params.previous_result_id
    ),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: lambda at, params: files.tokens(at, params.range),
}
_OPTIONS: dict[str, object] = {
    types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(trigger_characters=(":", ".", " ", ",", "(")),
    types.TEXT_DOCUMENT_SIGNATURE_HELP: types.SignatureHelpOptions(trigger_characters=["(", ","]),
    types.TEXT_DOCUMENT_RENAME: types.RenameOptions(prepare_provider=True),
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: LEGEND,
}
