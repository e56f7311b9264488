"""Coverage as text for a terminal: the totals, then a table with a line per Node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradmill.problems.plain import lines
from gradmill.reports.coverage import Coverage, Row, Saved

_COLUMNS = ("operator", "Node", "forward", "not implemented", "saves")
_WIDEST = (40, 44, 16, 24)  # a longer cell shifts the rest of its line
_NOTHING = "-"


def render(coverage: Coverage) -> str:
    """The coverage as lines of text: the totals, an empty line, and the table of Nodes."""
    return lines([*_totals(coverage), "", *_table(coverage.rows)])


def _totals(coverage: Coverage) -> Iterator[str]:
    totals = coverage.totals
    yield f"coverage of {coverage.specs}, read as PyTorch {coverage.release}"
    yield ""
    for label, count, whole in (
        ("differentiable functions", totals.functions, 0),
        ("  with a forward derivative", totals.functions_forward, totals.functions),
        ("Nodes", totals.nodes, 0),
        ("  with a forward derivative", totals.forward, totals.nodes),
        ("  without", totals.without_forward, totals.nodes),
        ("  a gradient not implemented", totals.some_not_implemented, totals.nodes),
        ("    none implemented", totals.all_not_implemented, totals.nodes),
        ("  that save tensors", totals.saving_tensors, totals.nodes),
        ("  that save nothing", totals.saving_nothing, totals.nodes),
        ("saved tensors", totals.saved_tensors, 0),
        ("other saved values", totals.saved_others, 0),
    ):
        share = f"  {count / whole:6.1%}" if whole else ""
        yield f"{label:33}{count:6}{share}"


def _table(rows: Sequence[Row]) -> Iterator[str]:
    """The table's lines. Columns are as wide as their cells, up to `_WIDEST`; the last column is not padded."""
    table = [_COLUMNS, *(_cells(row) for row in rows)]
    widths = [min(widest, max(len(line[i]) for line in table)) for i, widest in enumerate(_WIDEST)]
    for line in table:
        yield "  ".join([*(cell.ljust(width) for cell, width in zip(line, widths)), line[-1]])


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.label,
        row.node,
        ", ".join(row.forward) or _NOTHING,
        _failing(row),
        _saves(row.saves) or _NOTHING,
    )


def _failing(row: Row) -> str:
    if not row.not_implemented:
        return _NOTHING
    return "all" if set(row.not_implemented) == set(row.inputs) else ", ".join(row.not_implemented)


def _saves(saves: Sequence[Saved]) -> str:
    """The tensors' names, then the others in brackets."""
    tensors = ", ".join(saved.name for saved in saves if saved.tensor)
    others = ", ".join(saved.name for saved in saves if not saved.tensor)
    return f"{tensors} ({others})".strip() if others else tensors
