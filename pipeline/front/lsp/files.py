"""Answers an editor's requests about whole files: symbols, folds, hints, semantic tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from pipeline.front.lsp.answers import Asked, files_of, locations
from pipeline.front.lsp.symbols import Sent, symbols_of
from pipeline.front.lsp.tokens import difference
from pipeline.reports.editor.folds import folds
from pipeline.reports.editor.hints import hints
from pipeline.reports.editor.outline import Block, outline
from pipeline.reports.editor.symbols import Kind, symbols
from pipeline.reports.editor.words import Word

if TYPE_CHECKING:
    from pipeline.front.lsp.server import Server

_KINDS: dict[Kind, types.SymbolKind] = {
    "operator": types.SymbolKind.Function,
    "Node": types.SymbolKind.Class,
    "helper": types.SymbolKind.Method,
}
_FORMULAS = ("derivatives", "deprecated")


def document_symbols(at: Asked) -> list[Sent]:
    """The entries of a file, each with its fields."""
    return symbols_of(outline(at.text.lines), at.cursor.role, at.server.encoding)


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


def folding(at: Asked) -> list[types.FoldingRange]:
    """The parts of a file that may be folded."""
    comment = types.FoldingRangeKind.Comment
    return [
        types.FoldingRange(fold.first, fold.last, kind=comment if fold.is_comment else None)
        for fold in folds(at.text.lines)
    ]


def inlay_hints(at: Asked, place: types.Range) -> list[types.InlayHint]:
    """The hints of the definitions in a range of a file."""
    if at.cursor.role != "derivatives":
        return []
    key = at.session.files.key(at.path)
    shown = []
    for hint in hints(at.session.db, key, at.text.lines, place.start.line, place.end.line):
        size = len(at.text.line(hint.line))
        end = at.text.range(hint.line, size, size, at.server.encoding).end
        shown.append(types.InlayHint(end, hint.text, tooltip=hint.detail, padding_left=True))
    return shown


def tokens(at: Asked, place: types.Range | None = None) -> types.SemanticTokens:
    """The semantic tokens of a file, or of the entries in a range of it."""
    numbers = at.server.encoder.numbers(_words(at, place), at.server.encoding)
    if place is not None:
        return types.SemanticTokens(numbers)
    return types.SemanticTokens(numbers, result_id=at.server.keep_tokens(at.path, numbers))


def tokens_since(at: Asked, before: str) -> types.SemanticTokens | types.SemanticTokensDelta:
    """The change of a file's tokens since the result `before`; all of them if that is no longer known."""
    old = at.server.kept_tokens(at.path, before)
    new = tokens(at)
    return new if old is None else types.SemanticTokensDelta(difference(old, list(new.data)), new.result_id)


def _words(at: Asked, place: types.Range | None) -> Iterator[tuple[Block, list[Word]]]:
    """The entries of a file, or of a range of it, with the words of their formulas."""
    role = at.cursor.role
    if role not in _FORMULAS:
        return
    reader, db = at.server.reader(at.session), at.session.db
    for block in outline(at.text.lines):
        if place is None or (block.line <= place.end.line and place.start.line <= block.last):
            yield block, reader.words(db, role, block.body)
