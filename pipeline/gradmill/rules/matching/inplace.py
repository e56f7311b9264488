"""Forward derivatives of in-place ops, rewritten from those of their functional variant.

In place, the result is self, so a formula uses `self_p` for `result`. The old value of self must be cloned before it
is overwritten. The tangent is updated in place.

torchgen: `autograd.match_differentiability_info`.
"""

from __future__ import annotations

from itertools import accumulate

from msgspec.structs import replace

from gradmill.cpp import identifiers
from gradmill.model.autograd import ForwardDerivative, Info
from gradmill.model.nodes import Dependent
from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError

_DEEPER = {"(": 1, ")": -1}
_METHOD_ON_TANGENT = regex(r"self_t.([\w]*)\((.*)\)")


def check_strides(info: Info, inplace: str) -> None:
    """Refuses a formula for self that uses strides: the in-place op that it would serve overwrites self."""
    for derivative in info.derivatives:
        if "self" in derivative.var_names and any("strides_or_error" in s.expr for s in derivative.saved_inputs):
            raise SpecError(
                f"the formula for self uses strides, and serves the in-place op '{inplace}', which overwrites self",
                "define the in-place op's derivative itself",
                field=(", ".join(derivative.var_names),),
                needle="strides",
            )


def check_mutable(own: Info, dependent: Dependent) -> None:
    """Refuses formulas that a generated functional variant would take over, and that save what the mutable op
    overwrites."""
    if any("self" in saved.name for saved in own.all_saved_inputs):
        raise SpecError(
            f"the generated functional variant {dependent.name} would take over formulas that save self,"
            " which the mutable op overwrites",
            "define the derivative of the functional variant",
        )


def rewritten_inplace(own: Info, dependent: Dependent) -> tuple[ForwardDerivative, ...]:
    """The forward derivatives of an info, for an in-place function that it serves."""
    check_strides(own, dependent.name)
    if len(own.forward_derivatives) > 1:
        problem = f"in-place op '{dependent.name}' would have {len(own.forward_derivatives)} forward formulas"
        raise SpecError(problem, "an in-place op has one output")
    return tuple(rewrite_inplace(d, own.name, exact=dependent.exact) for d in own.forward_derivatives)


def rewrite_inplace(derivative: ForwardDerivative, operator: str, *, exact: bool) -> ForwardDerivative:
    """`derivative` rewritten for the in-place variant of `operator`. `exact`: it was written for that variant."""
    formula = derivative.formula
    if identifiers.uses(formula, "self_p"):
        if exact:
            problem = "the forward formula of an in-place op uses self_p, which is overwritten by then"
            raise SpecError(problem, "use 'result', or 'original_self_p' for a copy of the old value", needle="self_p")
        formula = identifiers.replace(formula, "self_p", "original_self_p")
        formula = identifiers.replace(formula, "self_t", "original_self_t")
    formula = identifiers.replace(formula, "result", "self_p")
    primals = derivative.required_inputs_primal
    if identifiers.uses(formula, "self_p"):
        primals = (*(primals or ()), "self")
    if not exact:
        formula = _update_tangent(formula, operator)
    original = identifiers.words(formula)
    return replace(
        derivative,
        formula=formula,
        var_names=("self",),
        required_inputs_primal=primals,
        required_original_self_value="original_self_p" in original or "original_self_t" in original,
        is_reusing_outplace_formula=not exact,
    )


def _update_tangent(formula: str, operator: str) -> str:
    """Writes into an existing tangent: with the in-place op itself if the formula is one call of it on self_t."""
    match = _METHOD_ON_TANGENT.fullmatch(formula)
    if match is not None and match.group(1) == operator and _one_call(match.group(2)):
        return f"self_t_raw.defined() ? self_t_raw.{operator}_({match.group(2)}) : {formula}"
    return f"self_t_raw.defined() ? self_t_raw.copy_({formula}) : {formula}"


def _one_call(arguments: str) -> bool:
    """Whether the text between the first and the last parenthesis never closes the first one."""
    return all(accumulate((_DEEPER.get(character, 0) for character in arguments), initial=1))
