"""Summarizes measurements: pairs yield medians and ratios, ratios yield verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

from bench.measure import Sample
from bench.scenarios import ALL_SCENARIOS, GRADMILL, TORCHGEN, Measured

Value = Callable[[Sample], float]


class Spread(NamedTuple):
    """Several measurements of one thing."""

    median: float
    least: float
    most: float


class Bounds(NamedTuple):
    """The values that a ratio should reach, or not exceed."""

    target: float
    aim: float
    at_least: bool


class Row(NamedTuple):
    """Two things measured in pairs, and the ratio of the pairs."""

    scenario: str
    title: str
    scale: int
    runs: int
    before: Spread  # the values that gradmill's are compared with
    ours: Spread
    ratio: Spread
    cpu_ratio: float | None  # the same ratio of processor times, which other programs disturb less
    bounds: Bounds | None
    verdict: str


MEMORY = Bounds(1, 0.5, False)
GROWTH = Bounds(4, 2, False)
_GROWTH_BOUND = ("nothing", "formula")


def speed_rows(measured: Sequence[Measured], scale: int) -> list[Row]:
    """By scenario, the factor by which gradmill is faster than torchgen. Targets apply to the real specs."""
    rows = []
    for s in ALL_SCENARIOS:
        pairs = [(p[TORCHGEN], p[GRADMILL]) for p in _pairs(measured, s.name, scale)]
        bounds = Bounds(s.target, s.aim, True) if s.target and s.aim and scale == 1 else None
        rows += _row(s.name, s.title, scale, pairs, lambda sample: sample.seconds, True, bounds)
    return rows


def memory_rows(measured: Sequence[Measured], scales: Sequence[int]) -> list[Row]:
    """By scale, the ratio of gradmill's peak memory in a cold build to torchgen's."""
    rows = []
    for s, scale in ((s, scale) for s in ALL_SCENARIOS if s.cold for scale in scales):
        pairs = [(p[TORCHGEN], p[GRADMILL]) for p in _pairs(measured, s.name, scale)]
        rows += _row(
            s.name, "cold build", scale, pairs, lambda sample: sample.peak_rss, False, MEMORY if s.target else None
        )
    return rows


def growth_rows(measured: Sequence[Measured], scale: int) -> list[Row]:
    """By scenario, the ratio of gradmill's time with `scale` times the specs to its time with the real specs."""
    rows = []
    for s in ALL_SCENARIOS:
        real, large = (_pairs(measured, s.name, size) for size in (1, scale))
        pairs = [(a[GRADMILL], b[GRADMILL]) for a, b in zip(real, large)]
        bounds = GROWTH if s.name in _GROWTH_BOUND else None
        rows += _row(s.name, s.title, scale, pairs, lambda sample: sample.seconds, False, bounds)
    return rows


def spread(values: Sequence[float]) -> Spread:
    """The median, the minimum and the maximum of some values."""
    return Spread(median(values), min(values), max(values))


def _pairs(measured: Sequence[Measured], scenario: str, scale: int) -> list[dict[str, Sample]]:
    return [m.samples for m in measured if (m.scenario, m.scale) == (scenario, scale)]


def _row(
    name: str,
    title: str,
    scale: int,
    pairs: Sequence[tuple[Sample, Sample]],
    value: Value,
    inverse: bool,
    bounds: Bounds | None,
) -> list[Row]:
    """The row of these pairs; none without pairs. `inverse`: a smaller value of gradmill yields a higher ratio."""
    if not pairs:
        return []
    before, ours = [value(a) for a, _ in pairs], [value(b) for _, b in pairs]
    ratio = _ratio(before, ours, inverse)
    cpu = None
    if value(pairs[0][0]) == pairs[0][0].seconds:
        cpu = _ratio([a.user + a.system for a, _ in pairs], [b.user + b.system for _, b in pairs], inverse).median
    return [
        Row(
            name,
            title,
            scale,
            len(pairs),
            spread(before),
            spread(ours),
            ratio,
            cpu,
            bounds,
            _verdict(bounds, ratio.median),
        )
    ]


def _ratio(before: Sequence[float], ours: Sequence[float], inverse: bool) -> Spread:
    return spread([a / b if inverse else b / a for a, b in zip(before, ours)])


def _verdict(bounds: Bounds | None, ratio: float) -> str:
    if bounds is None:
        return ""
    sign = 1 if bounds.at_least else -1
    met = [sign * ratio >= sign * bound for bound in (bounds.target, bounds.aim)]
    return "aim met" if all(met) else "met" if met[0] else "MISSED"
