"""Draws what an edit rebuilds, as SVG: the parts of an entry, the units that follow, and their files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from msgspec import Struct

from pipeline.families.table import FAMILIES
from pipeline.reports.page.model import Step

ROW, GAP, PAD, TOP = 30, 64, 12, 8  # pixels: height of a row, between columns, inside boxes, above all
HEIGHT = 22  # of a box
APART = 3  # between the lines of different edits
LETTER = 6.9  # width in the monospace font of 11.5 pixels
MANY = 9  # units or files with a box each; if there are more, those of a family share one


class Box(Struct, frozen=True):
    """A box: its column, its text, and the target of its link."""

    column: int
    text: str
    link: str = ""


class Edge(Struct, frozen=True):
    """A line between two boxes, for an edit of one part of an entry."""

    start: Box
    end: Box
    edit: int


class Place(Struct, frozen=True):
    """The position of a box, in pixels."""

    left: float
    top: float
    width: float


def picture(steps: Sequence[Step], root: str) -> str:
    """The graph as HTML. `root` is the relative path from the page to the folder."""
    many_units = len({(step.family, step.unit.title) for step in steps}) > MANY
    many_files = len({file for step in steps for file in step.files}) > MANY
    edits = list(dict.fromkeys(step.edit for step in steps))
    edges: dict[Edge, None] = {}
    for step in steps:
        unit, edit = _unit_box(step, steps, many=many_units, root=root), edits.index(step.edit)
        edges[Edge(Box(0, step.edit), unit, edit)] = None
        for text in _files(step, many=many_files):
            edges[Edge(unit, Box(2, text), edit)] = None
    return _drawn(list(edges), edits)


def _unit_box(step: Step, steps: Sequence[Step], *, many: bool, root: str) -> Box:
    if not many:
        return Box(1, step.unit.title, f"{root}op/{step.unit.page}.html#{step.unit.anchor}")
    count = len({each.unit.title for each in steps if each.family == step.family})
    if count == 1:
        return Box(1, step.unit.title, f"{root}op/{step.unit.page}.html#{step.unit.anchor}")
    return Box(1, f"{count} {FAMILIES[step.family].label}")


def _files(step: Step, *, many: bool) -> Iterable[str]:
    """The files of a step. If there are many, shards of one name are one."""
    if not many:
        return step.files
    return dict.fromkeys(f"{_stem(file)}*{file[file.rfind('.') :]}" if _stem(file) else file for file in step.files)


def _stem(file: str) -> str:
    """The common name of shards; "" if the file is no shard."""
    name = file.rpartition(".")[0]
    head = name.removesuffix("Everything").rstrip("0123456789").removesuffix("_")
    return head if head != name else ""


def _drawn(edges: Sequence[Edge], edits: Sequence[str]) -> str:
    boxes = list(dict.fromkeys(box for edge in edges for box in (edge.start, edge.end)))
    columns = [[box for box in boxes if box.column == column] for column in range(3)]
    widths = [max((len(box.text) for box in column), default=0) * LETTER + 2 * PAD for column in columns]
    lefts = [1.0, widths[0] + GAP, widths[0] + widths[1] + 2 * GAP]
    tallest = max(map(len, columns))
    places = {
        box: Place(lefts[box.column], TOP + (tallest - len(column)) * ROW / 2 + place * ROW, widths[box.column])
        for column in columns
        for place, box in enumerate(column)
    }
    width, height = lefts[2] + widths[2] + 1, TOP + tallest * ROW
    lines = "".join(_edge(edge, places, len(edits)) for edge in edges)
    rects = "".join(_box(box, places[box], edits) for box in boxes)
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    label = escape(f"An edit rebuilds: {', '.join(box.text for box in columns[1])}")
    return f'<div class="graph"><svg {size} role="img" aria-label="{label}">{lines}{rects}</svg></div>'


def _edge(edge: Edge, places: Mapping[Box, Place], edits: int) -> str:
    start, end = places[edge.start], places[edge.end]
    shift = (edge.edit - (edits - 1) / 2) * APART  # parallel lines for several edits
    x, y = start.left + start.width, start.top + HEIGHT / 2 + (shift if edge.start.column else 0)
    u, v = end.left, end.top + HEIGHT / 2 + shift
    middle = (x + u) / 2
    path = f"M{x:.0f} {y:.1f}C{middle:.0f} {y:.1f} {middle:.0f} {v:.1f} {u:.0f} {v:.1f}"
    return f'<path class="edge e{edge.edit}" d="{path}"/>'


def _box(box: Box, place: Place, edits: Sequence[str]) -> str:
    kind = f"edit e{edits.index(box.text)}" if box.column == 0 else ("unit", "file")[box.column - 1]
    text = f'<rect x="{place.left:.0f}" y="{place.top:.0f}" width="{place.width:.0f}" height="{HEIGHT}" rx="5"/>'
    text += f'<text x="{place.left + PAD:.0f}" y="{place.top + 15:.0f}">{escape(box.text)}</text>'
    inner = f'<a href="{escape(box.link)}">{text}</a>' if box.link else text
    return f'<g class="{kind}">{inner}</g>'
