"""The door of whole graphs: Python functions and exported models, forward and backward, as C++."""

from gradmill.doors import Extension, FamilyRow, Reads

_HERE = "gradmill.extensions.graphs"

EXTENSION = Extension(
    queries=tuple(f"{_HERE}.queries.{name}" for name in "graphs operators planned files".split()),
    families={
        "graphs": FamilyRow(("graph_formulas.h", "core_helpers.h"), source="graphs", module=f"{_HERE}.family"),
    },
    kinds={"graph": f"{_HERE}.kind"},
    ends={f"{_HERE}.queries.graphs:texts": "graphs/{}"},
    variables=f"{_HERE}.settings:variables",
    reads=Reads(
        added=f"{_HERE}.settings:read_graphs",
        stage=("read the files of whole graphs", "schemas"),
        module=f"{_HERE}.queries.graphs",
        uses=f"{_HERE}.queries.planned",
    ),
    rules=f"{_HERE}.rules:RULES",
    shown=f"{_HERE}.shown:SHOWN",
    printed=f"{_HERE}.shown:PRINTED",
)
