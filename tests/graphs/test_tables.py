"""The tables of what operators do, against calls of those of the installed torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradmill.extensions.graphs.tables import read_table
from graphs import tables


@pytest.mark.parametrize(
    "table",
    [pytest.param(name, marks=pytest.mark.slow(25)) if name == "products" else name for name in tables.TABLES],
)
def test_a_table_is_what_calls_of_operators_do(table: str, tmp_path: Path) -> None:
    """Of one in 24 operators, or of forty; `python -m tests.graphs.tables` writes it from all."""
    derive, operators_of = tables.TABLES[table]
    operators, known = operators_of(), read_table(table)
    sample = operators[:: min(24, max(1, len(operators) // 40))]
    names = {each.name() for each in sample}
    found = {f"aten::{name}": words for name, words in derive(sample, tmp_path).items()}
    assert found == {name: words for name, words in known.items() if name in names}
    assert len(names) > 10 and known
