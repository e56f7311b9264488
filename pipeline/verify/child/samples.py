"""Inputs on which the formula of an operator is checked.

Torch's own samples come first, if it has any, then samples made from the schema. Each is called once, so that all are
known to be accepted. Variants of the first ones follow: other arguments, layouts, and points where formulas go wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple, TypeVar

import torch

from pipeline.verify.child import from_opinfo
from pipeline.verify.child.arguments import as_complex, other_arguments
from pipeline.verify.child.calls import Calls, Operator, Values, is_float, mapped, same, tensors
from pipeline.verify.child.from_opinfo import Recorded
from pipeline.verify.child.from_schema import made
from pipeline.verify.child.layouts import Variant, layouts, sizes
from pipeline.verify.child.points import points
from pipeline.verify.child.probe import Probe
from pipeline.verify.child.smooth import smoothness

Item = TypeVar("Item")


class Sample(NamedTuple):
    """One call: a value for each argument of the schema, in its order, those by keyword included.

    `source` says where it is from, `point` what is special about it. `smooth` is False where finite differences may
    have no meaning: at ties, kinks, inf, nan. `smooth_gradient` is False where that holds for the gradient's.
    """

    args: Values
    source: str
    kind: str  # plain, layout or point
    point: str = ""
    smooth: bool = True
    smooth_gradient: bool = True


def samples(
    operator: Operator, schema: torch._C.FunctionSchema, *, folder: Path | None, limit: int, forks: bool = True
) -> Iterator[Sample]:
    """Samples that `operator` accepts: at most `limit` plain ones, then as many at most with other arguments, of other
    sizes, in other layouts, and three times as many at special points.

    `folder` keeps what was recorded of torch's own samples; None: nothing is kept. An operator that ended a copy of
    the process gets no values that its own samples do not speak for. `forks`: as of `Probe`.
    """
    name = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
    own = from_opinfo.recorded(name, folder)
    found: list[Sample] = []
    probe = Probe(forks=forks)
    probe.run(lambda: found.extend(_all(Calls(operator, schema, probe), schema, own, limit)))
    return iter(found)


def _all(calls: Calls, schema: torch._C.FunctionSchema, own: Recorded, limit: int) -> Iterator[Sample]:
    plain = list(_plain(calls, schema, own, limit))
    yield from plain
    bases = list(_with_complex(calls, _bases(plain)))
    names = [each.name for each in calls.arguments]
    is_checked = not calls.probe.deaths
    kinds = [_variants(calls, "point", bases, 3 * limit, lambda values: points(calls.arguments, values))]
    if not {"size", "stride"} <= set(names):  # else it reads memory by strides of its own
        changes = (sizes, layouts) if is_checked else (layouts,)
        kinds[:0] = [_variants(calls, "layout", bases, limit, partial(change, names)) for change in changes]
    if is_checked:
        others = partial(other_arguments, calls.arguments)
        kinds.insert(0, _variants(calls, "plain", bases, limit, others))
    for of_each_kind in zip_longest(*kinds):  # who has no time for all sees some of each
        yield from (each for each in of_each_kind if each is not None)


def _plain(calls: Calls, schema: torch._C.FunctionSchema, own: Recorded, limit: int) -> Iterator[Sample]:
    """Torch's own samples, then made ones: half of the limit each, or more where the other has fewer."""
    own = [each for each in own if calls.accepts(each[1], finite=True)]
    generated = list(made(calls, schema, max(limit // 2, limit - len(own))))
    if own and calls.probe.deaths:  # an operator that does not check its arguments
        generated = []
    for source, values in _spread(own, limit - len(generated)):
        yield Sample(values, source, "plain", "", *smoothness(calls, values))
    for number, values in enumerate(generated):
        yield Sample(values, f"made from the schema, {number}", "plain", "", *smoothness(calls, values))


def _bases(plain: list[Sample]) -> list[Values]:
    """The samples that variants are made of: two real ones and a complex one, and one of images if there is any."""
    full = [each for each in plain if all(inside.numel() for inside in tensors(list(each.args)))]
    best = [each.args for each in sorted(full, key=_unsuited)]
    real, complex_ = ([each for each in best if _is_complex(each) == wanted] for wanted in (False, True))
    images = [each for each in real[2:] if any(inside.dim() > 3 for inside in tensors(list(each)))]
    return real[:1] + complex_[:1] + real[1:2] + images[:1]


def _with_complex(calls: Calls, bases: list[Values]) -> Iterator[Values]:
    """The samples, and the first one with complex numbers if none has them and the operator takes them."""
    yield from bases[:1]
    made = tuple(mapped(as_complex, each) for each in bases[0]) if bases else ()
    if bases and not any(map(_is_complex, bases)) and calls.accepts(made, finite=True):
        yield made
    yield from bases[1:]


def _is_complex(values: Values) -> bool:
    return any(each.is_complex() for each in tensors(list(values)))


def _unsuited(sample: Sample) -> tuple[int, bool, bool, int]:
    """A base is smooth, with all tensors of floating point that it can have, enough elements for ties, but few."""
    floats = [each for each in tensors(list(sample.args)) if is_float(each)]
    sizes = [each.numel() for each in floats]
    too_small = min(sizes, default=0) < 4 or max((each.dim() for each in floats), default=0) < 2
    return (-len(floats), not sample.smooth, too_small, sum(sizes))


def _spread(items: list[Item], count: int) -> list[Item]:
    """`count` of the items, the first among them, at equal distances."""
    return items if len(items) <= count else [items[place * len(items) // count] for place in range(count)]


def _variants(
    calls: Calls, kind: str, bases: list[Values], limit: int, variants: Callable[[Values], Iterable[Variant]]
) -> Iterator[Sample]:
    """Up to `limit` of the variants of calls: first each of one of the calls, in turn, then the others."""
    of_kind: dict[str, list[tuple[Values, Values]]] = {}
    for turn in zip_longest(*map(variants, bases)):
        for base, variant in zip(bases, turn):
            if variant is not None:
                of_kind.setdefault(variant[0], []).append((variant[1], base))
    order = (
        (what, *own[(turn + number) % len(own)])
        for turn in range(len(bases))
        for number, (what, own) in enumerate(of_kind.items())
        if turn < len(own)
    )
    count = 0
    for what, values, base in order:
        if count == limit:
            return
        if not all(map(same, values, base)) and _accepts(calls, kind, values):
            count += 1
            yield Sample(values, "a variant", kind, what, *smoothness(calls, values))


def _accepts(calls: Calls, kind: str, values: Values) -> bool:
    return calls.accepts_layout(values) if kind == "layout" else calls.accepts(values, finite=kind != "point")
