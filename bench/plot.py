"""A plot of the measurements: time by scenario, and peak memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.report import Result, set_title
from bench.rows import Row, Spread

_THEIRS, _OURS, _INK, _MARK = "#9aa5b1", "#0f766e", "#1f2933", "#d64545"
_MB = 1 << 20
_BAR = 0.36


def draw(result: Result, path: Path) -> None:
    """Draws the result to `path`, a .png or .svg file."""
    from matplotlib.figure import Figure

    scales = [scale for scale in result.scales if any(row.scale == scale for row in result.speed)]
    figure = Figure(figsize=(6.4 * len(scales) + 3.6 * bool(result.memory), 5.2), layout="constrained")
    widths = [6.4] * len(scales) + [3.2] * bool(result.memory)
    panels = figure.subplots(1, len(widths), width_ratios=widths, squeeze=False)[0]
    for panel, scale in zip(panels, scales):
        _times(panel, [row for row in result.speed if row.scale == scale], set_title(scale))
    if result.memory:
        _memory(panels[-1], result.memory)
    figure.suptitle("gradmill and torchgen, the same files from the same specs", color=_INK, fontsize=14)
    figure.supxlabel(
        f"whole processes, start-up included; median, whiskers from minimum to maximum; "
        f"torch {result.versions['torch']}, Python {result.versions['python']}, "
        f"{result.machine['cpu']}, {result.machine['cores']} cores",
        color=_INK,
        fontsize=8,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def _times(panel: Any, rows: Sequence[Row], title: str) -> None:
    for at, row in enumerate(rows):
        _bar(panel, at - _BAR / 2, row.before, _THEIRS)
        _bar(panel, at + _BAR / 2, row.ours, _OURS)
        edge = row.ours.most
        if row.bounds:
            target = row.before.median / row.bounds.target
            panel.plot([target, target], [at + 0.02, at + _BAR + 0.04], color=_MARK, linewidth=1.8, zorder=4)
            edge = max(edge, target)
        _label(panel, row.before.most, at - _BAR / 2, _seconds(row.before.median), fontsize=8)
        text = f"{_seconds(row.ours.median)}   {row.ratio.median:.1f} times faster"
        _label(panel, edge, at + _BAR / 2, text, color=_OURS, fontsize=9, fontweight="bold")
    panel.set_xlim(0, 1.12 * max(row.before.most for row in rows))
    panel.xaxis.set_major_formatter(lambda value, _: f"{value:g} s")
    panel.set_yticks(range(len(rows)), [row.title.replace(", ", ",\n") for row in rows], color=_INK)
    panel.invert_yaxis()
    panel.set_title(title, color=_INK, fontsize=11)
    handles = _legend(any(row.bounds for row in rows))
    panel.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=3, frameon=False, fontsize=9)
    _bare(panel)


def _memory(panel: Any, rows: Sequence[Row]) -> None:
    widest = max(max(row.before.most, row.ours.most) for row in rows) / _MB
    for at, row in enumerate(rows):
        for shift, values, color in ((-_BAR / 2, row.before, _THEIRS), (_BAR / 2, row.ours, _OURS)):
            shown = Spread(*(value / _MB for value in values))
            _bar(panel, at + shift, shown, color)
            share = f"   {row.ratio.median:.2f} of torchgen's" if values is row.ours else ""
            inside = shown.median > widest / 2
            place, ink = (0.0, "white") if inside else (shown.most, _INK)
            _label(panel, place, at + shift, f"{shown.median:.0f} MB{share}", color=ink, fontsize=9)
    panel.set_ylim(len(rows) - 0.4, -0.6)
    panel.set_yticks(range(len(rows)), [f"specs\nx{row.scale}" for row in rows], color=_INK)
    panel.set_title("peak memory, cold build (MB)", color=_INK, fontsize=11)
    _bare(panel)


def _label(panel: Any, x: float, y: float, text: str, color: str = _INK, **font: Any) -> None:
    panel.annotate(text, (x, y), (6, 0), textcoords="offset points", va="center", color=color, zorder=5, **font)


def _bar(panel: Any, at: float, values: Spread, color: str) -> None:
    panel.barh(at, values.median, _BAR, color=color, zorder=2)
    panel.plot([values.least, values.most], [at, at], color=_INK, linewidth=1, zorder=3)


def _legend(targets: bool) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [Patch(color=_THEIRS, label="torchgen"), Patch(color=_OURS, label="gradmill")]
    return [*handles, Line2D([], [], color=_MARK, linewidth=1.8, label="target")] if targets else handles


def _bare(panel: Any) -> None:
    panel.spines[["top", "right", "left"]].set_visible(False)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="x", color="#e4e7eb", zorder=0)
    panel.set_axisbelow(True)


def _seconds(value: float) -> str:
    return f"{value:.3g} s" if value >= 1 else f"{value * 1000:.3g} ms"
