"""Writes whose other arguments are in the same memory: eager's kernels refuse some of these, by how they overlap.

The functional variant would compute something where eager has an error. So the graph makes the same two views of the
storage's first value, which lies in memory as in eager, and runs eager's check on them.
"""

from __future__ import annotations

from pipeline.graphs.functional.program import Overlap, tensors_of
from pipeline.graphs.functional.state import State
from pipeline.graphs.functional.storage import Alias
from pipeline.graphs.model import Call, Item, Ref
from pipeline.graphs.operator import Operator, tensor_arguments

# Facts of torch's kernels. TensorIterator: a read argument is the written tensor itself, or apart from it.
_PARTIAL = frozenset(
    """
    add addcdiv addcmul arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor clamp
    clamp_max clamp_min clip copy copysign div divide eq float_power floor_divide fmod gcd ge greater greater_equal gt
    heaviside hypot igamma igammac lcm le lerp less less_equal logical_and logical_or logical_xor lt masked_fill mul
    multiply ne nextafter not_equal pow remainder sub subtract true_divide xlogy
    """.split()
)
# The same of those that have an out variant: it is the kernel.
_PARTIAL_OUT = _PARTIAL - {"copy", "masked_fill"} | frozenset(
    """
    abs acos acosh asin asinh atan atanh ceil cos cosh cumprod cumsum digamma erf erfc erfinv exp exp2 expm1 floor frac
    i0 lgamma log log10 log1p log2 logcumsumexp logical_not maximum minimum neg reciprocal round rsqrt sgn sigmoid sign
    sin sinc sinh sqrt square tan tanh trunc
    """.split()
)
_ANY = frozenset("index_add index_copy index_fill index_put put scatter scatter_add".split())  # apart in any case
_OUT = ("out", "Tensor_out")  # the overloads of out variants that are kernels


def check_overlaps(state: State, call: Call, operator: Operator, written: str) -> None:
    """Adds eager's check of the other arguments of a write that are in the memory of the argument `written`."""
    every = _refuses(operator)
    if every is None:
        return
    into = state.handle(call.arguments[written]).alias
    for name in tensor_arguments(operator.schema):
        for value in tensors_of(call.arguments[name]) if name != written else ():
            alias = _alias(state, value)
            if alias is not None and alias.storage is into.storage and (every or alias is not into):
                state.steps.append(_overlap(into, alias, call, every=every))


def _refuses(operator: Operator) -> bool | None:
    """Whether the operator refuses any overlap; False: a partial one; None: it has no check."""
    name = operator.schema.name
    if operator.schema.out:
        return False if name.base in _PARTIAL_OUT and name.overload in _OUT else None
    base = name.base
    return True if base in _ANY else False if base in _PARTIAL else None


def _alias(state: State, value: Ref | Item) -> Alias | None:
    """The tensor of a value; None for a number or a whole list."""
    if value.name in state.scalars or (isinstance(value, Ref) and value.name in state.lists):
        return None
    alias = state.handle(value).alias
    return None if alias.listed else alias


def _overlap(written: Alias, read: Alias, call: Call, *, every: bool) -> Overlap:
    """The check. Both tensors are made from the last one that both are views of: it may be a copy."""
    one, other = written.chain, read.chain
    common = 0
    while common < min(len(one), len(other)) and _above(written, common) is _above(read, common):
        common += 1
    return Overlap(written.storage.first, one[:common], one[common:], other[common:], every, call.assigns, call.place)


def _above(alias: Alias, links: int) -> Alias:
    """The tensor on the way to `alias`, one link after the first `links` of its chain."""
    while alias.parent is not None and alias.depth > links + 1:
        alias = alias.parent
    return alias
