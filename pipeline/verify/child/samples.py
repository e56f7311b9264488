"""Inputs on which the formula of an operator is checked.

Torch's own samples come first, if it has any, then samples made from the schema. Each is called once, so that all are
known to be accepted. Variants of the first ones follow: other arguments, layouts, and points where formulas go wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

import torch

from pipeline.verify.child import from_opinfo
from pipeline.verify.child.arguments import other_arguments
from pipeline.verify.child.calls import Calls, Operator, Values, same, tensors
from pipeline.verify.child.from_opinfo import Recorded
from pipeline.verify.child.from_schema import made
from pipeline.verify.child.layouts import Variant, layouts
from pipeline.verify.child.points import points
from pipeline.verify.child.probe import Probe
from pipeline.verify.child.smooth import is_smooth

Item = TypeVar("Item")

BASES = 3  # samples that have variants


class Sample(NamedTuple):
    """One call: a value for each argument of the schema, in its order, those by keyword included.

    `source` says where it is from, `point` what is special about it. `smooth` is False where finite differences may
    have no meaning: at ties, kinks, inf, nan.
    """

    args: Values
    source: str
    kind: str  # plain, layout or point
    point: str = ""
    smooth: bool = True


def samples(
    operator: Operator, schema: torch._C.FunctionSchema, *, folder: Path | None, limit: int
) -> Iterator[Sample]:
    """Samples that `operator` accepts: at most `limit` plain ones, then as many at most with other arguments, in other
    layouts, and at special points. `folder` keeps what was recorded of torch's own samples; None: nothing is kept."""
    name = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
    own = from_opinfo.recorded(name, folder)
    found: list[Sample] = []
    probe = Probe()
    probe.run(lambda: found.extend(_all(Calls(operator, schema, probe), schema, own, limit)))
    return iter(found)


def _all(calls: Calls, schema: torch._C.FunctionSchema, own: Recorded, limit: int) -> Iterator[Sample]:
    plain = list(_plain(calls, schema, own, limit))
    yield from plain
    bases = _bases(plain)
    names = [each.name for each in calls.arguments]
    if not calls.probe.deaths:
        yield from _variants(calls, "plain", bases, limit, lambda values: other_arguments(calls.arguments, values))
    yield from _variants(
        calls, "layout", bases, limit, lambda values: layouts(names, values, sizes=not calls.probe.deaths)
    )
    yield from _variants(calls, "point", bases, 2 * limit, lambda values: points(names, values))


def _plain(calls: Calls, schema: torch._C.FunctionSchema, own: Recorded, limit: int) -> Iterator[Sample]:
    """Torch's own samples, then made ones: half of the limit each, or more where the other has fewer."""
    own = [each for each in own if calls.accepts(each[1], finite=True)]
    generated = list(made(calls, schema, max(limit // 2, limit - len(own))))
    if own and calls.probe.deaths:  # an operator that does not check its arguments
        generated = []
    for source, values in _spread(own, limit - len(generated)):
        yield Sample(values, source, "plain", smooth=is_smooth(calls, values))
    for number, values in enumerate(generated):
        yield Sample(values, f"made from the schema, {number}", "plain", smooth=is_smooth(calls, values))


def _bases(plain: list[Sample]) -> list[Values]:
    """Some samples that have elements: points and layouts are theirs."""
    full = [each.args for each in plain if all(inside.numel() for inside in tensors(list(each.args)))]
    return _spread(full, BASES)


def _spread(items: list[Item], count: int) -> list[Item]:
    """`count` of the items, the first among them, at equal distances."""
    return items if len(items) <= count else [items[place * len(items) // count] for place in range(count)]


def _variants(
    calls: Calls, kind: str, bases: list[Values], limit: int, variants: Callable[[Values], Iterable[Variant]]
) -> Iterator[Sample]:
    """Up to `limit` of the variants of calls, in a fixed pseudo-random order, so that each argument has its share."""
    candidates = [(what, values, base) for base in bases for what, values in variants(base)]
    Random(kind).shuffle(candidates)  # noqa: S311 - samples, not secrets
    count = 0
    for what, values, base in candidates:
        if count == limit:
            return
        if calls.accepts(values, finite=kind != "point") and not all(map(same, values, base)):
            count += 1
            yield Sample(values, "a variant", kind, what, is_smooth(calls, values))
