"""The rows as a table in Markdown."""

from __future__ import annotations

from typing import Any

WAYS = ("eager", "exported", "aot_function", "aot_eager", "inductor")  # next to a graph
SHOWN = ", ".join(WAYS)
HEAD = (
    "model",
    "kB of C++",
    "sources",
    "generate, s",
    "compile, s",
    "gradients",
    "gradients, of the exported program",
    "ten steps",
    f"held, MB ({SHOWN})",
    f"peak, MB ({SHOWN})",
    f"step, ms ({SHOWN})",
)


def table(rows: dict[str, dict[str, Any]]) -> str:
    """A line for each model; then, for each that failed, the step and the reason."""
    lines = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
    lines += [f"| {' | '.join(_cells(name, row))} |" for name, row in rows.items() if "bytes" in row]
    failed = [
        f"- {name}: {row['failed'][0]}: {_first_line(row['failed'][1])}"
        for name, row in rows.items()
        if "failed" in row
    ]
    return "\n".join([*lines, "", *failed, ""])


def _cells(name: str, row: dict[str, Any]) -> list[str]:
    note = f" ({row['note']})" if row["note"] else ""
    compiled = f"{row['compile']:.0f} {row['optimize']}" if "compile" in row else ""
    return [
        name + note,
        f"{row['bytes'] / 1000:.0f}",
        str(row["sources"]),
        _number(row.get("generate"), ".1f"),
        compiled,
        _number(row.get("gradients"), ".0e") + (f" (eager: {row['again']:.0e})" if row.get("again") else ""),
        _number(row.get("exported", {}).get("gradients"), ".0e"),
        _number(row.get("steps"), ".0e") + (f" (eager: {row['drift']:.0e})" if row.get("drift") else ""),
        *(_memory(row.get("memory"), which) for which in ("held", "peak")),
        _seconds(row.get("seconds")),
    ]


def _number(value: float | None, form: str) -> str:
    return "" if value is None else "0" if value == 0 else format(value, form)


def _memory(memory: dict[str, dict[str, int]] | None, which: str) -> str:
    return "" if memory is None else _beside({way: f"{each[which] / 1e6:.1f}" for way, each in memory.items()})


def _seconds(seconds: dict[str, float | str] | None) -> str:
    if seconds is None:
        return ""
    return _beside({way: f"{1000 * each:.2f}" if isinstance(each, float) else "fails" for way, each in seconds.items()})


def _beside(texts: dict[str, str]) -> str:
    """The text of the graph, and in parentheses those of other ways."""
    return f"{texts.get('graph', '-')} ({', '.join(texts.get(way, '-') for way in WAYS)})"


def _first_line(text: str) -> str:
    return next(iter(text.splitlines()), "").strip()
