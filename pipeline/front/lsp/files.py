"""Answers an editor's requests about whole files: symbols, folds, hints, semantic tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from pipeline.front.lsp.answers import Asked, files_of, locations
from pipeline.front.lsp.buffers import units
from pipeline.front.lsp.tokens import Placed, difference, encoded
from pipeline.reports.editor.folds import folds
from pipeline.reports.editor.hints import hints
from pipeline.reports.editor.outline import Block, Field, outline
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
    """The entries of a file, each with its fields; those of native_functions.yaml without, as there are thousands."""
    return [_entry(at, block) for block in outline(at.text.lines) if block.body.fields]


def _entry(at: Asked, block: Block) -> types.DocumentSymbol:
    first, *others = block.body.fields
    line = block.line + first.line
    head = block.body.head
    return types.DocumentSymbol(
        block.body.operator or "(no name)",
        types.SymbolKind.Constant if at.cursor.role == "tags" else types.SymbolKind.Function,
        _range(at, block.line, block.body.indent, block.last),
        _range(at, line, min(first.value, len(at.text.line(line))), line),
        detail=head[len(head.partition("(")[0]) :],
        children=[_field(at, block.line, field) for field in others] if at.cursor.role != "native" else None,
    )


def _field(at: Asked, start: int, field: Field) -> types.DocumentSymbol:
    line, name = start + field.line, ".".join((*field.path, field.key))
    key = types.Range(_place(at, line, field.start), _place(at, line, field.end))
    whole = _range(at, line, field.start, start + field.last)
    return types.DocumentSymbol(name, types.SymbolKind.Field, whole, key)


def _range(at: Asked, line: int, start: int, last: int) -> types.Range:
    """From a column of a line to the end of another one."""
    return types.Range(_place(at, line, start), _place(at, last, len(at.text.lines[last])))


def _place(at: Asked, line: int, column: int) -> types.Position:
    text = at.text.lines[line]
    return types.Position(line, column if text.isascii() else units(text[:column], at.server.encoding))


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
