"""Inputs on which the formula of an operator is checked.

Torch's own samples come first, if it has any, then samples made from the schema. Each is called once, so that all are
known to be accepted. Variants of the first ones follow: other arguments, layouts, and points where formulas go wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import combinations, islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gradmill.extensions.verify.child import arguments as changes
from gradmill.extensions.verify.child import from_opinfo
from gradmill.extensions.verify.child.arguments import Variant
from gradmill.extensions.verify.child.calls import Calls, Function, Values, is_float, mapped, same, tensors
from gradmill.extensions.verify.child.from_opinfo import Recorded
from gradmill.extensions.verify.child.probe import Probe
from gradmill.extensions.verify.child.values import made

LIMIT = 8  # samples of each kind


class Sample(NamedTuple):
    """One call: a value for each argument of the schema, in its order, those by keyword included.

    `source` says where it is from, `point` what is special about it.
    """

    args: Values
    source: str
    kind: str  # plain, layout or point
    point: str = ""


def samples(
    function: Function, schema: torch._C.FunctionSchema, *, folder: Path | None, limit: int = LIMIT, forks: bool = True
) -> Iterator[Sample]:
    """Samples that an operator accepts: some of torch's, `limit` made ones at most, then as many with one other
    argument, with two, of other sizes, in other layouts, and three times as many at special points, also with other
    arguments.

    `folder` keeps what was recorded of torch's own samples; None: nothing is kept. An operator that ended a copy of
    the process gets no values that its own samples do not speak for. `forks`: as of `Probe`.
    """
    name = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
    own = from_opinfo.recorded(name, folder)
    probe = Probe(forks=forks)
    return iter(probe.run(lambda: list(_all(Calls(function, schema, probe), schema, own, limit))))


def _all(calls: Calls, schema: torch._C.FunctionSchema, own: Recorded, limit: int) -> Iterator[Sample]:
    plain = list(_plain(calls, schema, own, limit))
    yield from plain
    bases = _bases(plain)
    if bases and not any(map(_is_complex, bases)):
        made_complex = mapped(changes.as_complex, bases[0])
        bases[1:1] = [made_complex] if calls.accepts(made_complex, finite=True) else []
    is_checked = not calls.probe.deaths
    has_modes = len(set(map(strings, bases))) > 1  # each has its own points
    has_layouts = not {"size", "stride"} <= {each.name for each in calls.arguments}  # else it has strides of its own
    rows = (
        (is_checked, "plain", limit, changes.other_arguments),
        (is_checked, "plain", 2 * limit, changes.pairs),
        (is_checked and has_layouts, "layout", limit, changes.sizes),
        (has_layouts, "layout", limit, changes.layouts),
        (True, "point", 3 * limit, changes.points),
        (has_modes, "point", 3 * limit, lambda arguments, values: islice(changes.points(arguments, values), 3)),
        (is_checked, "point", 3 * limit, changes.points_of_variants),
    )
    kinds = (_variants(calls, kind, bases, count, variants) for wanted, kind, count, variants in rows if wanted)
    for of_each_kind in zip_longest(*kinds):  # who has no time for all sees some of each
        yield from (each for each in of_each_kind if each is not None)


def _plain(calls: Calls, schema: torch._C.FunctionSchema, own: Recorded, limit: int) -> Iterator[Sample]:
    """Torch's own samples that differ most, up to half as many again as the limit, then half of it of made ones, or
    more where torch has fewer."""
    own = [each for each in own if calls.accepts(each[1], finite=True)]
    generated = list(made(calls, schema, max(limit // 2, limit - len(own))))
    if own and calls.probe.deaths:  # an operator that does not check its arguments
        generated = []
    for source, values in _most_different(own, limit + limit // 2):
        yield Sample(values, source, "plain")
    for number, values in enumerate(generated):
        yield Sample(values, f"made from the schema, {number}", "plain")


def _most_different(calls: Recorded, count: int) -> Recorded:
    """`count` of the calls: in each step the one with most values, or pairs of values of two arguments, that none of
    those before has; those without elements come last."""
    rest = [(each, _features(each[1])) for each in calls]
    found: Recorded = []
    seen: set[Any] = set()
    while rest and len(found) < count:
        best = max(rest, key=lambda each: (_is_full(each[0][1]), len(each[1] - seen)))
        rest = [each for each in rest if each is not best]
        found.append(best[0])
        seen |= best[1]
    return found


def _features(values: Values) -> set[Any]:
    """What an operator may make a difference of: the value of each argument, of a tensor its type and rank, whether it
    has several, one or no elements or, of integers, the same one twice, and is tall, square or wide; and pairs."""
    single = {(place, *_feature(value)) for place, value in enumerate(values)}
    return {*single, *combinations(sorted(single, key=str), 2)}


def _feature(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, Tensor):
        return (str(value) if not isinstance(value, list) else str([_feature(each) for each in value]),)
    repeats = not is_float(value) and value.numel() != len(set(value.flatten().tolist()))
    rows, columns = value.shape[-2:] if value.dim() > 1 else (0, 0)
    shape = (rows > columns) - (rows < columns)
    return str(value.dtype), value.dim(), min(value.numel(), 2), repeats, shape


def _is_full(values: Values) -> bool:
    return all(each.numel() for each in tensors(list(values)))


def _bases(plain: list[Sample]) -> list[Values]:
    """The samples that variants are made of: two real ones and a complex one, one of images if there is any, and one
    of each other mode."""
    best = sorted((each.args for each in plain if _is_full(each.args)), key=_unsuited)
    real, complex_ = ([each for each in best if _is_complex(each) == wanted] for wanted in (False, True))
    images = [each for each in real[2:] if any(inside.dim() > 3 for inside in tensors(list(each)))]
    modes = {mode: each for each in reversed(real[2:]) if (mode := strings(each)) != strings(real[0])}
    return real[:1] + complex_[:1] + real[1:2] + images[:1] + list(modes.values())


def _is_complex(values: Values) -> bool:
    return any(each.is_complex() for each in tensors(list(values)))


def _unsuited(values: Values) -> tuple[int, bool, int]:
    """A base has all tensors of floating point that it can have, enough elements for ties, but few."""
    floats = [each for each in tensors(list(values)) if is_float(each)]
    sizes = [each.numel() for each in floats]
    too_small = max(sizes, default=0) < 4 or max((each.dim() for each in floats), default=0) < 2
    return (-len(floats), too_small, sum(sizes))


def strings(values: Values) -> tuple[str, ...]:
    """The mode of a call: those of its values that are strings."""
    return tuple(each for each in values if isinstance(each, str))


def _variants(
    calls: Calls, kind: str, bases: list[Values], limit: int, variants: Callable[[list[Any], Values], Iterable[Variant]]
) -> Iterator[Sample]:
    """Up to `limit` of the variants of calls: first each of one of the calls, in turn, then the others."""
    of_kind = defaultdict[str, list[tuple[Values, Values]]](list)
    for turn in zip_longest(*(variants(calls.arguments, base) for base in bases)):
        for base, variant in zip(bases, turn):
            if variant is not None:
                of_kind[variant[0]].append((variant[1], base))
    order = (
        (what, *own[(turn + number) % len(own)])
        for turn in range(len(bases))
        for number, (what, own) in enumerate(of_kind.items())
        if turn < len(own) and not (calls.overwrites and changes.SAME in what)
    )
    accepts = calls.accepts_layout if kind == "layout" else partial(calls.accepts, finite=kind != "point")
    accepted = (each for each in order if not all(map(same, *each[1:])) and accepts(each[1]))
    for what, values, _ in islice(accepted, limit):
        yield Sample(values, "a variant", kind, what)
