"""The symbols of a file: its entries and their fields, in the protocol's form.

A file has thousands, and a key changes those of one entry. So they are kept in the form in which they are sent.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.protocol import default_converter

from pipeline.front.lsp.buffers import units
from pipeline.problems.problem import Role
from pipeline.reports.editor.outline import Block, Field, outline

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
    return Sent(converter().unstructure(_Entry(lines, line, encoding).symbol(block, role)))


class _Entry:
    """The lines of an entry, and its first line in the file."""

    def __init__(self, lines: list[str], line: int, encoding: str) -> None:
        self._lines, self._line, self._encoding = lines, line, encoding

    def symbol(self, block: Block, role: Role | None) -> types.DocumentSymbol:
        body = block.body
        first, *others = body.fields
        value = min(first.value, len(self._lines[first.line]))
        return types.DocumentSymbol(
            body.operator or "(no name)",
            types.SymbolKind.Constant if role == "tags" else types.SymbolKind.Function,
            self._range(0, body.indent, block.last),
            self._range(first.line, value, first.line),
            detail=body.head[len(body.head.partition("(")[0]) :],
            children=[self._field(field) for field in others] if role != "native" else None,
        )

    def _field(self, field: Field) -> types.DocumentSymbol:
        name, line = ".".join((*field.path, field.key)), field.line
        key = types.Range(self._place(line, field.start), self._place(line, field.end))
        return types.DocumentSymbol(name, types.SymbolKind.Field, self._range(line, field.start, field.last), key)

    def _range(self, line: int, start: int, last: int) -> types.Range:
        """From a column of a line to the end of another one."""
        return types.Range(self._place(line, start), self._place(last, len(self._lines[last])))

    def _place(self, line: int, column: int) -> types.Position:
        return types.Position(self._line + line, units(self._lines[line][:column], self._encoding))
