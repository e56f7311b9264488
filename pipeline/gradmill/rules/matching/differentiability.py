"""Autograd facts of a matched function: how its kernel is called, and which outputs are differentiable.

torchgen: `autograd.dispatch_strategy`, `autograd.is_differentiable`, `autograd.gen_differentiable_outputs`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from gradmill.cpp.bindings import return_names
from gradmill.cpp.dispatcher import return_type
from gradmill.model.autograd import Info
from gradmill.model.kernels import Differentiability
from gradmill.model.native import NativeFunction
from gradmill.model.schema import is_tensor_like
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

Strategy = Literal["use_derived", "use_type"]


class DifferentiableOutput(Struct, frozen=True, gc=False):
    """An output that carries history: its name, its schema type, its C++ type."""

    name: str
    type: str
    cpp_type: str


def dispatch_strategy(function: NativeFunction, infos: Iterable[Info]) -> Strategy:
    """`use_derived`: autograd calls the kernel below itself. `use_type`: the op is composed of differentiable ops."""
    return "use_derived" if function.is_abstract or any(i.args_with_derivatives for i in infos) else "use_type"


def is_differentiable(name: str, type_: str, declared: Differentiability | None) -> bool:
    """True for tensors and lists of tensors, unless the definition declares the output non-differentiable."""
    return is_tensor_like(type_) and (declared is None or name not in declared.non_differentiable)


def differentiable_outputs(
    function: NativeFunction, declared: Differentiability | None, release: Release
) -> tuple[DifferentiableOutput, ...]:
    """The outputs with history, in order. A definition that uses a single `grad` has one.

    Raises a SpecError when output_differentiability does not fit the outputs.
    """
    returns = function.func.returns
    outputs = [
        DifferentiableOutput(name, r.type, return_type(r, function, release))
        for name, r in zip(return_names(function.func), returns)
    ]
    counts = declared.outputs if declared is not None else None
    if counts is None:
        differentiable = tuple(o for o in outputs if is_differentiable(o.name, o.type, declared))
        return differentiable[:1] if declared is not None and declared.single_gradient else differentiable
    if len(counts) != len(outputs):
        problem = f"output_differentiability has {len(counts)} values for {len(outputs)} outputs"
        raise SpecError(problem, field=("output_differentiability",))
    if False in counts and function.func.name.inplace:
        problem = "the output of an in-place op is its self, and always counts"
        raise SpecError(problem, field=("output_differentiability",))
    return tuple(output for output, differs in zip(outputs, counts) if differs)
