"""Problems as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import astuple

from pipeline.problems.locate import Place, Sources, place_of
from pipeline.problems.problem import Problem

MAX_SHOWN = 100  # problems; who has more has made one mistake many times


def render(problems: Iterable[Problem], sources: Sources, *, strict: bool = False) -> str:
    """All problems as text, in the order of the files: place, op, field, what is wrong, the line, what to do."""
    # By all that they say: the order of a set depends on the hash seed.
    found = sorted(set(problems), key=lambda p: (p.warning, p.role, p.entry, p.line, astuple(p)))
    shown = ((place_of(p, sources), p) for p in found[:MAX_SHOWN])
    placed = sorted(shown, key=lambda pair: (pair[0], pair[1].problem))
    text = "".join(_render(place, problem) for place, problem in placed)
    errors = sum(not p.warning for p in found)
    counts = [
        f"{n} {what}{'s' if n > 1 else ''}" for n, what in ((errors, "error"), (len(found) - errors, "warning")) if n
    ]
    note = " (strict=1: warnings are errors)" if strict and len(found) > errors else ""
    note += f", of which these are {MAX_SHOWN}" if len(found) > MAX_SHOWN else ""
    return f"{text}{' and '.join(counts)}{note}\n"


def _render(place: Place, problem: Problem) -> str:
    source = place.shown
    where = place.file if not place.line else f"{place.file}:{place.line}:{max(place.column, 1)}"
    what = [part for part in (problem.op, ": ".join(problem.field), problem.problem) if part]
    lines = [f"{where}: {'warning' if problem.warning else 'error'}: {': '.join(what)}"]
    if source:
        number = f"{place.line:>6}"
        lines += [f"{number} | {source[:300]}"]
        if place.column <= 300:
            indent = "".join("\t" if c == "\t" else " " for c in source[: max(place.column, 1) - 1])
            lines += [f"{' ' * len(number)} | {indent}^"]
    if problem.hint:
        lines.append(f"  hint: {problem.hint}")
    return "\n".join(lines) + "\n"
