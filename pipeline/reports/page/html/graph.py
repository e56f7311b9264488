"""What an edit re-makes as a picture: the parts of an entry, the units that follow, the files with these, as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from msgspec import Struct

from pipeline.reports.page.model import Step

ROW, GAP, PAD, TOP = 30, 64, 12, 8  # pixels: of a box with its distance, between columns, inside boxes, above all
HEIGHT = 22  # of a box
LETTER = 6.9  # the width of one, in the monospace font of 11.5 pixels
MANY = 9  # units, or files, that get a box each; more of a family share one

_FAMILIES = {
    "nodes": "Nodes",
    "variable_type": "VariableType kernels",
    "inplace_or_view": "ADInplaceOrView kernels",
    "trace_type": "TraceType kernels",
    "view_funcs": "ViewFuncs",
    "factories": "factory functions",
}


class Box(Struct, frozen=True):
    """A box: its column, what it says, where it leads."""

    column: int
    text: str
    link: str = ""


def picture(steps: Sequence[Step], root: str) -> str:
    """The graph. `root`: what leads from the page to the folder of all pages."""
    many_units = len({(step.family, step.unit.title) for step in steps}) > MANY
    many_files = len({file for step in steps for file in step.files}) > MANY
    edges: dict[tuple[Box, Box], None] = {}
    for step in steps:
        unit = _unit_box(step, steps, many=many_units, root=root)
        edges[Box(0, step.edit), unit] = None
        for text in _files(step, many=many_files):
            edges[unit, Box(2, text)] = None
    return _drawn(list(edges))


def _unit_box(step: Step, steps: Sequence[Step], *, many: bool, root: str) -> Box:
    if not many:
        return Box(1, step.unit.title, f"{root}op/{step.unit.page}.html#{step.unit.anchor}")
    count = len({each.unit.title for each in steps if each.family == step.family})
    if count == 1:
        return Box(1, step.unit.title, f"{root}op/{step.unit.page}.html#{step.unit.anchor}")
    return Box(1, f"{count} {_FAMILIES.get(step.family, step.family)}")


def _files(step: Step, *, many: bool) -> Iterable[str]:
    """The files of a step; shards of one name as one, where there are many."""
    if not many:
        return step.files
    return dict.fromkeys(f"{_stem(file)}*{file[file.rfind('.') :]}" if _stem(file) else file for file in step.files)


def _stem(file: str) -> str:
    """The name that shards have in common."""
    name = file.rpartition(".")[0]
    head = name.removesuffix("Everything").rstrip("0123456789").removesuffix("_")
    return head if head != name else ""


def _drawn(edges: Sequence[tuple[Box, Box]]) -> str:
    boxes = list(dict.fromkeys(box for edge in edges for box in edge))
    columns = [[box for box in boxes if box.column == column] for column in range(3)]
    widths = [max((len(box.text) for box in column), default=0) * LETTER + 2 * PAD for column in columns]
    lefts = [1.0, widths[0] + GAP, widths[0] + widths[1] + 2 * GAP]
    tallest = max(map(len, columns))
    tops = {
        box: TOP + (tallest - len(column)) * ROW / 2 + place * ROW
        for column in columns
        for place, box in enumerate(column)
    }
    width, height = lefts[2] + widths[2] + 1, TOP + tallest * ROW
    lines = "".join(_edge(a, b, lefts, widths, tops, columns[0]) for a, b in edges)
    drawn = "".join(_box(box, lefts[box.column], tops[box], widths[box.column], columns[0]) for box in boxes)
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    label = escape(f"An edit re-makes: {', '.join(box.text for box in columns[1])}")
    return f'<div class="graph"><svg {size} role="img" aria-label="{label}">{lines}{drawn}</svg></div>'


def _edge(
    a: Box, b: Box, lefts: Sequence[float], widths: Sequence[float], tops: dict[Box, float], edits: list[Box]
) -> str:
    x, y = lefts[a.column] + widths[a.column], tops[a] + HEIGHT / 2
    u, v = lefts[b.column], tops[b] + HEIGHT / 2
    middle = (x + u) / 2
    colour = f" e{edits.index(a)}" if a in edits else ""
    return (
        f'<path class="edge{colour}" d="M{x:.0f} {y:.0f}C{middle:.0f} {y:.0f} {middle:.0f} {v:.0f} {u:.0f} {v:.0f}"/>'
    )


def _box(box: Box, left: float, top: float, width: float, edits: list[Box]) -> str:
    kind = f"edit e{edits.index(box)}" if box in edits else ("unit", "file")[box.column - 1]
    text = f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{HEIGHT}" rx="5"/>'
    text += f'<text x="{left + PAD:.0f}" y="{top + 15:.0f}">{escape(box.text)}</text>'
    inner = f'<a href="{escape(box.link)}">{text}</a>' if box.link else text
    return f'<g class="{kind}">{inner}</g>'
