"""Answers an editor's requests about whole files: symbols, folds, hints, semantic tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from pipeline.front.lsp.answers import Asked, files_of, locations
from pipeline.front.lsp.tokens import Placed, difference, encoded
from pipeline.reports.editor.folds import folds
from pipeline.reports.editor.hints import hints
from pipeline.reports.editor.outline import Block, outline
from pipeline.reports.editor.symbols import Kind, symbols

if TYPE_CHECKING:
    from pipeline.front.lsp.server import Server

_KINDS: dict[Kind, types.SymbolKind] = {
    "operator": types.SymbolKind.Function,
    "Node": types.SymbolKind.Class,
    "helper": types.SymbolKind.Method,
}
_FORMULAS = ("derivatives", "deprecated")


def document_symbols(at: Asked) -> list[types.DocumentSymbol]:
    """The entries of a file, each with its fields."""
    return [_entry(at, block) for block in outline(at.text.lines)]


def _entry(at: Asked, block: Block) -> types.DocumentSymbol:
    body, encoding = block.body, at.server.encoding
    lines = at.text.lines
    first = body.fields[0] if body.fields else None
    start = first.value if first is not None and not first.line else body.indent
    fields = [
        types.DocumentSymbol(
            ".".join((*field.path, field.key)),
            types.SymbolKind.Field,
            _range(at, block.line + field.line, field.start, block.line + field.last),
            at.text.range(block.line + field.line, field.start, field.end, encoding),
        )
        for field in body.fields
        if field is not first
    ]
    return types.DocumentSymbol(
        body.operator or "(no name)",
        types.SymbolKind.Constant if at.cursor.role == "tags" else types.SymbolKind.Function,
        _range(at, block.line, body.indent, block.last),
        at.text.range(block.line, min(start, len(lines[block.line])), len(lines[block.line]), encoding),
        detail=body.head.partition("(")[1] + body.head.partition("(")[2],
        children=fields,
    )


def _range(at: Asked, line: int, start: int, last: int) -> types.Range:
    """From a column of a line to the end of another one."""
    begin = at.text.range(line, start, start, at.server.encoding).start
    size = len(at.text.line(last))
    return types.Range(begin, at.text.range(last, size, size, at.server.encoding).end)


def workspace_symbols(server: Server, query: str) -> list[types.WorkspaceSymbol]:
    """The symbols of all open sets that match a query."""
    server.catch_up()
    found = []
    for session in server.sets.open():
        listed = symbols(session.db, query, files_of(server, session))
        for symbol, location in zip(listed, locations(server, [symbol.spot for symbol in listed])):
            name = types.WorkspaceSymbol(location, symbol.name, _KINDS[symbol.kind], container_name=symbol.within)
            found.append(name)
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
    words = _words(at, place)
    numbers = encoded(words, at.text, at.server.encoding)
    if place is not None:
        return types.SemanticTokens(numbers)
    return types.SemanticTokens(numbers, result_id=at.server.keep_tokens(at.path, numbers))


def tokens_since(at: Asked, before: str) -> types.SemanticTokens | types.SemanticTokensDelta:
    """The change of a file's tokens since the result `before`; all of them if that is no longer known."""
    old = at.server.kept_tokens(at.path, before)
    new = tokens(at)
    return new if old is None else types.SemanticTokensDelta(difference(old, list(new.data)), new.result_id)


def _words(at: Asked, place: types.Range | None) -> list[Placed]:
    role = at.cursor.role
    if role not in _FORMULAS:
        return []
    reader, db = at.server.reader(at.session), at.session.db
    return [
        (block.line + word.line, word.start, word.end, word.kind)
        for block in outline(at.text.lines)
        if place is None or (block.line <= place.end.line and place.start.line <= block.last)
        for word in reader.words(db, role, block.body)
    ]
