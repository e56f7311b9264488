"""Draws graphs as SVG: boxes in columns, and lines between them. What an edit of an entry rebuilds is one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from msgspec import Struct

from gradmill.extensions.browse.page.model import Ref, Step
from gradmill.families.table import FAMILIES

ROW, GAP, PAD, TOP = 30, 64, 12, 8  # pixels: height of a row, between columns, inside boxes, above all
HEIGHT = 22  # of a box
APART = 3  # between the lines of different edits
LETTER = 6.9  # width in the monospace font of 11.5 pixels
MANY = 9  # units or files with a box each; if there are more, those of a family share one
EDITS, UNITS, FILES = range(3)  # the columns of what an edit rebuilds


class Box(Struct, frozen=True):
    """A box: its column, its kind, its text, and the target of its link."""

    column: int
    kind: str
    text: str
    link: str = ""


class Edge(Struct, frozen=True):
    """A line between two boxes; `edit` is the number of the edit that it belongs to, or 0."""

    start: Box
    end: Box
    edit: int = 0


class Rectangle(Struct, frozen=True):
    """The position of a box, in pixels."""

    left: float
    top: float
    width: float


def picture(steps: Sequence[Step], root: str) -> str:
    """What an edit rebuilds, as HTML. `root` is the relative path from the page to the folder."""
    many_units = len({(step.family, step.unit.title) for step in steps}) > MANY
    many_files = len({file for step in steps for file in step.files}) > MANY
    edits = list(dict.fromkeys(step.edit for step in steps))
    edges: dict[Edge, None] = {}
    for step in steps:
        unit, edit = _unit_box(step, steps, many=many_units, root=root), edits.index(step.edit)
        edges[Edge(Box(EDITS, f"edit e{edit}", step.edit), unit, edit)] = None
        for text in shards_as_one(step.files) if many_files else step.files:
            edges[Edge(unit, Box(FILES, "file", text), edit)] = None
    units = dict.fromkeys(edge.end.text for edge in edges if edge.end.column == UNITS)
    return drawn(list(edges), f"An edit rebuilds: {', '.join(units)}", edits=len(edits))


def _unit_box(step: Step, steps: Sequence[Step], *, many: bool, root: str) -> Box:
    count = len({each.unit.title for each in steps if each.family == step.family}) if many else 1
    if count == 1:
        return Box(UNITS, "unit", step.unit.title, link_to(step.unit, root))
    return Box(UNITS, "unit", f"{count} {FAMILIES[step.family].label}")


def link_to(ref: Ref, root: str) -> str:
    """The address of a function or a Node."""
    return f"{root}op/{ref.page}.html#{ref.anchor}"


def shards_as_one(files: Iterable[str]) -> list[str]:
    """Files, with a pattern in place of the shards of one name."""
    return list(dict.fromkeys(f"{_stem(file)}*{file[file.rfind('.') :]}" if _stem(file) else file for file in files))


def _stem(file: str) -> str:
    """The common name of shards; "" if the file is not a shard."""
    name = file.rpartition(".")[0]
    head = name.removesuffix("Everything").rstrip("0123456789").removesuffix("_")
    return head if head != name else ""


def drawn(edges: Sequence[Edge], label: str, *, edits: int = 1, gap: int = GAP) -> str:
    """A graph as HTML that scrolls if it is wider than the page. `label` says what it shows."""
    boxes = list(dict.fromkeys(box for edge in edges for box in (edge.start, edge.end)))
    used = sorted({box.column for box in boxes})
    columns = [[box for box in boxes if box.column == column] for column in used]
    tallest = max(map(len, columns), default=0)
    places: dict[Box, Rectangle] = {}
    left = 1.0
    for column in columns:
        width = max(len(box.text) for box in column) * LETTER + 2 * PAD
        top = TOP + (tallest - len(column)) * ROW / 2
        places |= {box: Rectangle(left, top + at * ROW, width) for at, box in enumerate(column)}
        left += width + gap
    lines = "".join(_edge(edge, places, edits, first=edge.start.column == used[0]) for edge in edges)
    rects = "".join(_box(box, places[box]) for box in boxes)
    width, height = left - gap + 1, TOP + tallest * ROW
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    name = f'role="group" aria-label="{escape(label)}"'
    return f'<div class="graph" tabindex="0" {name}><svg {size}>{lines}{rects}</svg></div>'


def _edge(edge: Edge, places: Mapping[Box, Rectangle], edits: int, *, first: bool) -> str:
    start, end = places[edge.start], places[edge.end]
    shift = (edge.edit - (edits - 1) / 2) * APART  # parallel lines for several edits
    x, y = start.left + start.width, start.top + HEIGHT / 2 + (0 if first else shift)
    u, v = end.left, end.top + HEIGHT / 2 + shift
    middle = (x + u) / 2
    path = f"M{x:.0f} {y:.1f}C{middle:.0f} {y:.1f} {middle:.0f} {v:.1f} {u:.0f} {v:.1f}"
    return f'<path class="edge e{edge.edit}" d="{path}"/>'


def _box(box: Box, place: Rectangle) -> str:
    text = f'<rect x="{place.left:.0f}" y="{place.top:.0f}" width="{place.width:.0f}" height="{HEIGHT}" rx="5"/>'
    text += f'<text x="{place.left + PAD:.0f}" y="{place.top + 15:.0f}">{escape(box.text)}</text>'
    inner = f'<a href="{escape(box.link)}">{text}</a>' if box.link else text
    return f'<g class="{box.kind}">{inner}</g>'
