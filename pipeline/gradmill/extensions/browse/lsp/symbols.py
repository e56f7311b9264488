"""The symbols of a file: its entries and their fields, in the protocol's form.

A file has thousands, and a key changes those of one entry. So they are kept in the form in which they are sent.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.protocol import default_converter

from gradmill.extensions.browse.editor.outline import Block, Field, outline
from gradmill.extensions.browse.lsp.buffers import units
from gradmill.problems.problem import Role

if TYPE_CHECKING:
    from cattrs import Converter  # comes with pygls


class Sent(dict[str, Any]):
    """A value of the protocol in the form in which it is sent."""


@cache
def converter() -> Converter:
    """pygls's converter, which takes values that are converted already, too."""
    made: Converter = default_converter()  # type: ignore[no-untyped-call]
    made.register_unstructure_hook(Sent, lambda value: value)
    return made


def symbols_of(blocks: list[Block], role: Role | None, encoding: str) -> list[Sent]:
    """The symbols of the entries of a file, each with its fields; those of native_functions.yaml without, as there are
    thousands. `encoding`: in which the editor counts characters."""
    return [_symbol(block.body.text, block.line, role, encoding) for block in blocks if block.body.fields]


@lru_cache(maxsize=1 << 13)
def _symbol(text: str, line: int, role: Role | None, encoding: str) -> Sent:
    """The symbol of the entry with a text that begins at a line."""
    lines = text.split("\n")
    (block,) = outline(lines)

    def range_from(first: int, start: int, last: int, end: int | None = None) -> types.Range:
        """From a column of a line of the entry to one of another line, by default to its end."""
        places = ((first, lines[first][:start]), (last, lines[last][:end]))
        return types.Range(*(types.Position(line + number, units(before, encoding)) for number, before in places))

    def symbol_of(field: Field) -> types.DocumentSymbol:
        name, first = ".".join((*field.path, field.key)), field.line
        whole, key = range_from(first, field.start, field.last), range_from(first, field.start, first, field.end)
        return types.DocumentSymbol(name, types.SymbolKind.Field, whole, key)

    body = block.body
    first, *others = body.fields
    symbol = types.DocumentSymbol(
        body.operator or "(no name)",
        types.SymbolKind.Constant if role == "tags" else types.SymbolKind.Function,
        range_from(0, body.indent, block.last),
        range_from(first.line, first.value, first.line),
        detail=body.head[len(body.head.partition("(")[0]) :],
        children=[symbol_of(field) for field in others] if role != "native" else None,
    )
    return Sent(converter().unstructure(symbol))
