"""The part of a function's derivatives that its autograd kernel depends on.

torchgen: `gen_variable_type.emit_body`, `gen_variable_type.guard_for`.
"""

from __future__ import annotations

from msgspec.structs import replace

from gradmill.cpp import identifiers
from gradmill.cpp.types import TENSOR
from gradmill.grammar.types import base_type
from gradmill.model.autograd import Derivative, Info, SavedAttribute
from gradmill.model.kernels import Differentiability, KernelDerivative, KernelSaved
from gradmill.model.native import NativeFunction
from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError

_MASK = regex(r"grad_input_mask\[(\d+)\]")


def kernel_derivative(
    key: str, node: str | None, info: Info, reference: NativeFunction | None, *, out: bool = False
) -> KernelDerivative:
    """The part of `info` that the kernel for a dispatch key needs. `reference`: that of an in-place foreach function.
    `out`: kernels with out arguments save nothing, and only check whether tangents exist."""
    by_member = reference is not None
    inputs = [] if out else [(s, save_guard(s, info, by_member=by_member)) for s in _by_name(info.all_saved_inputs)]
    return KernelDerivative(
        dispatch_key=key,
        node=node,
        operator=info.name,
        inputs=tuple(sorted({name for d in info.derivatives for name in d.var_names})),
        saved_inputs=tuple(_saved(s, guard) for s, guard in inputs),
        saved_outputs=tuple(_saved(s, None) for s in _by_name(info.all_saved_outputs) if not out),
        differentiability=differentiability_of(info),
        conditions=info.output_differentiability_conditions or (),
        forward=tuple(replace(d, formula="") for d in info.forward_derivatives) if out else info.forward_derivatives,
        reference=() if reference is None else tuple((a.name, a.type) for a in reference.func.inputs),
    )


def differentiability_of(info: Info) -> Differentiability:
    """Which inputs and outputs are differentiable according to `info`."""
    return Differentiability(
        info.non_differentiable_arg_names,
        any(identifiers.uses(d.formula, "grad") for d in info.derivatives),
        info.output_differentiability,
    )


def _by_name(saved: tuple[SavedAttribute, ...]) -> list[SavedAttribute]:
    return sorted(saved, key=lambda attribute: attribute.name)


def _saved(attribute: SavedAttribute, guard: str | None) -> KernelSaved:
    return KernelSaved(attribute.name, attribute.type, attribute.expr, guard)


def save_guard(saved: SavedAttribute, info: Info, *, by_member: bool) -> str | None:
    """The C++ condition under which a tensor is saved: a formula that uses it is computed. None for no condition.

    Edges are numbered by inputs, so they are unknown if one of these is a list. An in-place foreach op is applied
    member by member and has no such list.
    """
    inputs = info.args_with_derivatives
    if "backward" in info.name or len(inputs) < 2 or saved.type != TENSOR:
        return None
    if not by_member and any(base_type(i.type) == "Tensor" and "[" in i.type for i in inputs):
        return None
    users = [d for d in info.derivatives if saved in d.saved_inputs]
    if len(users) != 1:
        return None
    if len(users[0].var_names) > 1:
        return _wrapped_if(saved.name, users[0])
    edge = [i.name for i in inputs].index(users[0].var_names[0])
    return f"grad_fn->should_compute_output({edge})"


def _wrapped_if(name: str, derivative: Derivative) -> str | None:
    """The condition in `wrap_opt_if(name, condition)` of a formula for several inputs. The character after the comma is
    skipped, and the condition ends at the first closing parenthesis, as upstream has it."""
    begin, formula = f"wrap_opt_if({name}", derivative.formula
    at = formula.find(begin)
    if at < 0:
        return None
    start = at + len(begin) + 1
    condition, closed, _ = formula[start:].partition(")")
    if formula[start - 1 : start] != "," or not closed or "\n" in condition:
        problem = f"wrap_opt_if({name} … has no condition"
        hint = f"write wrap_opt_if({name}, condition)"
        raise SpecError(problem, hint, field=(", ".join(derivative.var_names),), needle=begin)
    return _MASK.sub(r"grad_fn->should_compute_output(\1)", condition[1:].strip())
