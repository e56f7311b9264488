"""Answers an editor's requests about whole files: symbols, folds, hints, semantic tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from gradmill.extensions.browse.editor.folds import folds
from gradmill.extensions.browse.editor.hints import hints
from gradmill.extensions.browse.editor.outline import Block, outline
from gradmill.extensions.browse.editor.symbols import Kind, symbols
from gradmill.extensions.browse.editor.words import Word
from gradmill.extensions.browse.lsp.answers import EditorRequest, files_of, locations
from gradmill.extensions.browse.lsp.symbols import Sent, symbols_of
from gradmill.extensions.browse.lsp.tokens import difference

if TYPE_CHECKING:
    from gradmill.extensions.browse.lsp.server import Server

_KINDS: dict[Kind, types.SymbolKind] = {
    "operator": types.SymbolKind.Function,
    "Node": types.SymbolKind.Class,
    "helper": types.SymbolKind.Method,
}
_FORMULAS = ("derivatives", "deprecated")


def document_symbols(request: EditorRequest) -> list[Sent]:
    """The entries of a file, each with its fields."""
    return symbols_of(outline(request.text.lines), request.cursor.role, request.server.encoding)


def workspace_symbols(server: Server, query: str) -> list[types.WorkspaceSymbol]:
    """The symbols of all open sets that match a query."""
    server.catch_up()
    found = []
    for session in server.sets.open():
        listed = symbols(session.db, query, files_of(server, session))
        for symbol, location in zip(listed, locations(server, [symbol.spot for symbol in listed])):
            kind = _KINDS[symbol.kind]
            found.append(types.WorkspaceSymbol(location, symbol.name, kind, container_name=symbol.within))
    return found


def folding(request: EditorRequest) -> list[types.FoldingRange]:
    """The parts of a file that may be folded."""
    comment = types.FoldingRangeKind.Comment
    return [
        types.FoldingRange(fold.first, fold.last, kind=comment if fold.is_comment else None)
        for fold in folds(request.text.lines)
    ]


def inlay_hints(request: EditorRequest, place: types.Range) -> list[types.InlayHint]:
    """The hints of the definitions in a range of a file."""
    if request.cursor.role != "derivatives":
        return []
    key = request.session.files.key(request.path)
    shown = []
    for hint in hints(request.session.db, key, request.text.lines, place.start.line, place.end.line):
        size = len(request.text.line(hint.line))
        end = request.text.range(hint.line, size, size, request.server.encoding).end
        shown.append(types.InlayHint(end, hint.text, tooltip=hint.detail, padding_left=True))
    return shown


def tokens(request: EditorRequest, place: types.Range | None = None) -> types.SemanticTokens:
    """The semantic tokens of a file, or of the entries in a range of it."""
    numbers = request.server.encoder.numbers(_words(request, place), request.server.encoding)
    if place is not None:
        return types.SemanticTokens(numbers)
    return types.SemanticTokens(numbers, result_id=request.server.keep_tokens(request.path, numbers))


def tokens_since(request: EditorRequest, before: str) -> types.SemanticTokens | types.SemanticTokensDelta:
    """The change of a file's tokens since the result `before`; all of them if that is no longer known."""
    old = request.server.kept_tokens(request.path, before)
    new = tokens(request)
    return new if old is None else types.SemanticTokensDelta(difference(old, list(new.data)), new.result_id)


def _words(request: EditorRequest, place: types.Range | None) -> Iterator[tuple[Block, list[Word]]]:
    """The entries of a file, or of a range of it, with the words of their formulas."""
    role = request.cursor.role
    if role not in _FORMULAS:
        return
    reader, db = request.session.reader, request.session.db
    for block in outline(request.text.lines):
        if place is None or (block.line <= place.end.line and place.start.line <= block.last):
            yield block, reader.words(db, role, block.body)
