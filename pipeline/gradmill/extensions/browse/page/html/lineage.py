"""Draws lineage: an operator from its entries through functions, Nodes and kernels to files, and the whole set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradmill.extensions.browse.page.html.graph import MANY, Box, Edge, drawn, link_to, shards_as_one
from gradmill.extensions.browse.page.model import Derivative, Function, Lineage, Operator, Source, Unit
from gradmill.extensions.browse.page.names import safe
from gradmill.families.family import DERIVATIVES
from gradmill.families.table import FAMILIES
from gradmill.model.entries import by_key

GAP = 36  # pixels between the columns
ENTRIES, FUNCTIONS, NODES, UNITS, FILES = range(5)  # the columns

Line = tuple[Box, Box]


def neighbourhood(shown: Operator, root: str) -> str:
    """An operator's lineage as HTML. `root` is the relative path from the page to the folder."""
    lines = dict.fromkeys(_lines(shown, root))
    label = f"From the entries of {shown.page} to generated files"
    return drawn([Edge(*line) for line in _merged(list(lines))], label, gap=GAP)


def _lines(shown: Operator, root: str) -> Iterator[Line]:
    functions = {each.title: Box(FUNCTIONS, "unit", each.title, f"#{safe(each.title)}") for each in shown.functions}
    for each in shown.functions:
        if each.source.file:
            yield _entry(each.source, root), functions[each.title]
        served = [Box(NODES, "unit", node.node, f"#{node.anchor}") for node in _serving(shown, each)]
        for unit in each.units:
            box = Box(UNITS, f"unit {unit.family}", unit.title, f"#{unit.anchor}")
            starts = served if served and FAMILIES[unit.family].subject == DERIVATIVES else [functions[each.title]]
            yield from ((start, box) for start in starts)
            yield from _files(box, unit)
    for node in shown.derivatives:
        yield from _of_node(node, functions, root)


def _of_node(node: Derivative, functions: dict[str, Box], root: str) -> Iterator[Line]:
    """The lines to a Node, and from it to its files and to the kernels on other pages."""
    box = Box(NODES, "unit", node.node, f"#{node.anchor}")
    if not node.node:
        return
    if node.source.file:
        yield _entry(node.source, root, derivatives=True), box
    yield functions[node.function], box
    for ref in node.serves:
        if ref.title not in functions:
            yield box, Box(UNITS, "unit", ref.title, link_to(ref, root))
    if node.unit is not None:
        yield from _files(box, node.unit)


def _entry(source: Source, root: str, *, derivatives: bool = False) -> Box:
    text = f"{source.file.rpartition('/')[2].removesuffix('.yaml')}: {source.anchor}"
    return Box(ENTRIES, f"edit e{int(derivatives)}", text, f"{root}source/{source.page}.html#{source.anchor}")


def _serving(shown: Operator, function: Function) -> list[Derivative]:
    """The Nodes of this page that a function's kernel creates."""
    names = {function.title, *(ref.title for ref in function.served_by)}
    by_formulas = function.status.startswith("by ")
    return [each for each in shown.derivatives if each.node and each.function in names] if by_formulas else []


def _files(box: Box, unit: Unit) -> Iterator[Line]:
    yield from ((box, Box(FILES, "file", file)) for file in unit.files)


def _merged(lines: Sequence[Line]) -> list[Line]:
    """The lines, with a box for all of a column's boxes of one kind where there are many."""
    replaced: dict[Box, Box] = {}
    boxes = list(dict.fromkeys(box for line in lines for box in line))
    for column in (FUNCTIONS, NODES, UNITS, FILES):
        own = [box for box in boxes if box.column == column]
        if len(own) > MANY:
            replaced |= _shared(column, own)
    merged = ((replaced.get(start, start), replaced.get(end, end)) for start, end in lines)
    return list(dict.fromkeys(merged))


def _shared(column: int, boxes: Sequence[Box]) -> dict[Box, Box]:
    if column == FILES:
        return {box: Box(column, box.kind, shards_as_one([box.text])[0]) for box in boxes}
    counts = by_key((box.kind, box) for box in boxes)
    return {
        box: Box(column, "unit", f"{len(own)} {_plural(column, kind)}")
        for kind, own in counts.items()
        if len(own) > 1
        for box in own
    }


def _plural(column: int, kind: str) -> str:
    family = kind.partition(" ")[2]
    return (
        FAMILIES[family].label if family else {FUNCTIONS: "functions", NODES: "Nodes"}.get(column, "of other operators")
    )


def of_set(lineage: Lineage) -> str:
    """The lineage of a whole set as HTML: from its files through functions and units to generated files."""
    functions = Box(FUNCTIONS, "unit", f"{lineage.functions:,} functions", "functions.html")
    sources = dict(map(_source, lineage.sources))
    edges = [Edge(box, functions) for box, derivatives in sources.items() if not derivatives]
    for family in lineage.families:
        link = "nodes.html" if family.nodes else ""
        units = Box(UNITS, "unit", f"{family.units:,} {family.label}", link)
        edges.append(Edge(functions, units))
        if family.nodes or family.differentiated:
            edges += [Edge(box, units) for box, derivatives in sources.items() if derivatives]
        edges += [Edge(units, Box(FILES, "file", file)) for file in shards_as_one(name for name, _ in family.files)]
    return drawn(edges, "From the files of the set to the generated files")


def _source(source: tuple[str, str, int, bool]) -> tuple[Box, bool]:
    page, file, count, derivatives = source
    kind = f"edit e{int(derivatives)}"
    return Box(ENTRIES, kind, f"{file}: {count:,} entries", f"source/{page}.html"), derivatives
