"""The in-place variants of an operator, which write into a tensor that may be a view of another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import copy
from typing import Any

from torch import Tensor

from gradmill.extensions.verify.child.call_at_sample import Point
from gradmill.extensions.verify.child.calls import Function, Gradients, is_float
from gradmill.extensions.verify.child.checks import Finding, Inapplicable, gradient
from gradmill.extensions.verify.child.domains import EVERYWHERE
from gradmill.extensions.verify.child.formulas import Args, Formulas

SELF = "self"


def written(point: Point) -> Iterator[Finding]:
    """The gradients of in-place variants next to finite differences of these. Inapplicable if no variant takes the
    arguments."""
    formulas, own = point.formulas, dict(zip(point.formulas.arguments, point.args)).get(SELF)
    variants: list[tuple[str, Point]] = []
    if isinstance(own, Tensor) and is_float(own) and point.domain is EVERYWHERE:
        for name, function in formulas.in_place if SELF not in formulas.not_implemented else ():
            with suppress(Exception):  # whatever it raises: most refuse what would change the shape or type
                variant = Point(_variant(formulas, function), point.args)
                (result,) = variant.results
                if isinstance(result, Tensor) and (result.shape, result.dtype) == (own.shape, own.dtype):
                    variants.append((name, variant))
    if not variants:
        raise Inapplicable
    for name, variant in variants:
        for finding in gradient(variant):
            lacks = "" if SELF in formulas.inputs else ", as self has no formula"
            check, computed = f"gradient where {name} writes into a view", f"{finding.computed}{lacks}"
            yield finding._replace(check=check, computed=computed)


def _variant(formulas: Formulas, function: Function) -> Formulas:
    """The formulas of an in-place function. Where `self` has none, the engine takes the Node's first gradient for that
    of the view which is written to."""
    variant = copy(formulas)
    variant.function = function
    if SELF in formulas.inputs:
        return variant

    def gradients(args: Args, results: Sequence[Any], cotangents: Gradients, needs: Sequence[bool]) -> Gradients:
        found = formulas.gradients(args, results, cotangents, needs[1:])
        return [*found[:1], *found]

    variant.inputs = [SELF, *formulas.inputs]
    variant.places = [formulas.arguments.index(name) for name in variant.inputs]
    if not formulas.is_torchs:
        variant.gradients = gradients  # type: ignore[method-assign]
    return variant
