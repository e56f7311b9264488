"""What `show graphs` prints: a row for each function of a graph file, as it was read; and its type."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec
from msgspec import defstruct

from gradmill.extensions.graphs.model import Function
from gradmill.extensions.graphs.queries import graphs
from gradmill.query.database import Database
from gradmill.reports.row_types import fields_of
from gradmill.reports.show import Layout, Listed, Row, Shown


def _rows(db: Database, layout: Layout) -> Iterator[Listed]:
    for file, name in graphs.all_names(db):
        yield {file, name, f"{file}:{name}"}, partial(_row, db, file, name)


def _row(db: Database, file: str, name: str) -> Row:
    graph = graphs.graph(db, file, name)
    return {"file": file, "schema": graphs.signature(db, file, name), **msgspec.to_builtins(graph)}


PRINTED = {
    "graphs": (defstruct("GraphOfFile", [("file", str), ("schema", str), *fields_of(Function).items()]),),
}
SHOWN = {"graphs": Shown("graphs", _rows)}
