"""Extends pygls's protocol to follow the specification: every request gets a response, including a request that cannot
be parsed and a request after shutdown."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method

_INVALID_REQUEST = -32600  # the protocol's error code InvalidRequest


class Protocol(LanguageServerProtocol):
    """pygls's protocol. `Server` keeps the texts of files instead; invalid and late requests get an error response."""

    without_notice = False  # whether the editor sent `exit` without `shutdown` before it

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" not in data or "id" not in data:
                raise
            self._send_response(data["id"], error=error.to_response_error())
            return None

    def handle_message(self, message: Any) -> None:
        if message is None:  # it could not be parsed, and has its error response
            return
        if getattr(message, "method", "") == types.EXIT:
            self.without_notice = not self._shutdown
        if self._shutdown and hasattr(message, "method") and hasattr(message, "id"):
            late = JsonRpcException("the server was shut down", _INVALID_REQUEST)
            self._send_response(message.id, error=late.to_response_error())
        else:
            super().handle_message(message)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Any:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Any:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Any:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE], (params,), None
