"""The report: a table for people, JSON with every single measurement for programs."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib import metadata
from typing import Any, NamedTuple

from bench.rows import Row, Spread, growth_rows, memory_rows, speed_rows
from bench.scenarios import Measured
from gradmill import __version__
from gradmill.session.bytecode import suspects
from gradmill.session.own_code import PACKAGE, own_files

FORMAT = "gradmill-bench/1"
_LIBRARIES = ("torch", "doit", "msgspec", "pyyaml", "xxhash")
_WIDTHS = (28, 28, 26, 8, 6, 8, 6, 9)


class Result(NamedTuple):
    """The data of the table, the plot and the JSON."""

    machine: dict[str, str | int]
    versions: dict[str, str]
    load: tuple[float, float]  # of the machine, at the start and at the end
    suspects: int  # modules of gradmill whose bytecode each cold build compares, or compiles
    scales: Sequence[int]
    speed: Sequence[Row]
    memory: Sequence[Row]
    growth: Sequence[Row]


def result_of(measured: Sequence[Measured], scales: Sequence[int], load: tuple[float, float]) -> Result:
    """Summarizes the measurements. `load`: of the machine, at the start and at the end."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0
    return Result(
        {"cpu": _cpu_name(), "cores": cores, "system": f"{platform.system()} {platform.release()}"},
        {
            "gradmill": __version__,
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in _LIBRARIES},
        },
        load,
        len(suspects((path for path in own_files().values() if path.endswith(".py")), os.path.dirname(PACKAGE))),
        scales,
        [row for scale in scales for row in speed_rows(measured, scale)],
        memory_rows(measured, scales),
        [row for scale in scales if scale > 1 for row in growth_rows(measured, scale)],
    )


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def set_title(scale: int) -> str:
    """The title of the spec set of a scale."""
    return "the specs of the installed torch" if scale == 1 else f"{scale} times these specs"


def table(result: Result) -> str:
    """The report as text."""
    machine = result.machine
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['system']};"
        f" load {result.load[0]:.1f} at the start, {result.load[1]:.1f} at the end",
        ", ".join(f"{name} {version}" for name, version in result.versions.items()),
        f"gradmill in {PACKAGE}; modules whose bytecode a cold build compares: {result.suspects}",
        "whole processes, in pairs that alternate, after one warm-up; median (min to max); equal files every time",
    ]
    for scale in result.scales:
        rows = [(row.title, row) for row in result.speed if row.scale == scale]
        lines += _block(f"time, {set_title(scale)}", ("torchgen", "gradmill", "times faster"), rows, 1, " s")
    rows = [(set_title(row.scale), row) for row in result.memory]
    lines += _block("peak memory, cold build", ("torchgen", "gradmill", "of torchgen's"), rows, 1 << 20, " MB")
    for scale in result.scales:
        rows = [(row.title, row) for row in result.growth if row.scale == scale]
        columns = ("the specs", f"{scale} times the specs", "times the time")
        lines += _block("gradmill's time as specs grow", columns, rows, 1, " s")
    return "\n".join(lines)


def _block(
    title: str, columns: tuple[str, str, str], rows: Sequence[tuple[str, Row]], unit: int, name: str
) -> list[str]:
    if not rows:
        return []
    return ["", _line(title, (*columns, "of CPU", "runs", "target", "aim", ""))] + [
        _line(
            f"  {label}",
            (
                _cell(row.before, unit, name),
                _cell(row.ours, unit, name),
                _cell(row.ratio),
                f"{row.cpu_ratio:.3g}" if row.cpu_ratio else "",
                str(row.runs),
                f"{row.bounds.target:g}" if row.bounds else "",
                f"{row.bounds.aim:g}" if row.bounds else "",
                row.verdict,
            ),
        )
        for label, row in rows
    ]


def _line(label: str, cells: Sequence[str]) -> str:
    return f"{label:40}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, _WIDTHS))


def _cell(values: Spread, unit: int = 1, name: str = "") -> str:
    middle, least, most = (_number(value / unit) for value in values)
    return f"{middle}{name} ({least} to {most})"


def _number(value: float) -> str:
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{digits}f}"


def as_json(result: Result, measured: Sequence[Measured]) -> dict[str, Any]:
    """The report for programs: the rows of the table, and all measurements in order."""
    runs = [
        {"scenario": m.scenario, "scale": m.scale, "run": m.run, "program": program, **sample._asdict()}
        for m in measured
        for program, sample in m.samples.items()
    ]
    return {"format": FORMAT, **_plain(result), "measured": runs}


def _plain(value: Any) -> Any:
    """Named tuples as objects."""
    if hasattr(value, "_asdict"):
        return {name: _plain(field) for name, field in value._asdict().items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
