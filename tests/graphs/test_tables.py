"""The tables of what operators do, against calls of those of the installed torch."""

from __future__ import annotations

from pathlib import Path

import pytest
from never_wrong.seed import MORE, SEED

from graphs import tables
from pipeline.graphs.tables import read_table


@pytest.mark.parametrize("table", tables.TABLES)
def test_a_table_is_what_calls_of_operators_do(table: str, tmp_path: Path) -> None:
    """Of one in 24 operators, with `GRADMILL_MORE` of more; `python -m tests.graphs.tables` writes it from all."""
    derive, operators = tables.TABLES[table]
    sample, known = operators()[SEED % 24 :: max(1, 24 // MORE)], read_table(table)
    names = {each.name().removeprefix("aten::") for each in sample}
    assert derive(sample, tmp_path) == {name: words for name, words in known.items() if name in names}
    assert len(names) > 10 and known
