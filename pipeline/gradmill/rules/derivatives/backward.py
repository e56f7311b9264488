"""Backward formulas: from a definition's rows to `Derivative`s, and the rules of `grad`, `grads` and `grad_<name>`.

torchgen: `load_derivatives.create_derivative`, `load_derivatives.used_gradient_indices`,
`load_derivatives.check_grad_usage`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from gradmill.cpp import identifiers
from gradmill.cpp.bindings import Binding, return_names, return_types
from gradmill.model.autograd import Derivative, Formula
from gradmill.model.native import NativeFunction
from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.derivatives.saved import check_calls, save


class Differentiated(Struct, frozen=True):
    """A function that a definition is for."""

    function: NativeFunction
    arguments: Sequence[Binding]
    named_gradients: Sequence[str]  # of outputs: those that formulas may use
    release: Release


_GRAD_INDEX = regex(r"(?:^|\W)grads\[(\d+)\]")


def create_derivative(row: Formula, of: Differentiated) -> Derivative:
    """The gradient that one row computes, and what it saves. Raises a SpecError for unsupported calls and indices."""
    check_calls(row.formula)
    function, release = of.function, of.release
    inputs = [(a.bound, a.cpp.value) for a in of.arguments]
    names = ["result" if name == "self" else name for name in return_names(function.func)]
    outputs = [*zip(names, return_types(function.func, release))]
    formula, saved_inputs = save(row.formula, inputs, row.names, release)
    formula, saved_outputs = save(formula, outputs, row.names, release)
    for index in gradient_indices(formula):
        if index >= len(function.func.returns):
            problem = f"grads[{index}] is out of bounds: the op returns {len(function.func.returns)} value(s)"
            raise SpecError(problem, needle=f"grads[{index}]")
    named = tuple(sorted({name for name in of.named_gradients if identifiers.uses(formula, name)}))
    return Derivative(
        formula=formula,
        original_formula=row.formula,
        var_names=row.names,
        saved_inputs=saved_inputs,
        saved_outputs=saved_outputs,
        named_gradients=named,
    )


def gradient_indices(formula: str) -> list[int]:
    """The index of every `grads[i]`, in order."""
    return [identifiers.small_int(i) for i in _GRAD_INDEX.findall(formula)] if "grads[" in formula else []


def check_gradient_usage(derivatives: Sequence[Derivative]) -> None:
    """Refuses mixtures of `grad`, `grads` and named gradients, and `grads[0]` alone: wrong in double backward."""
    uses_grad = any(identifiers.uses(d.formula, "grad") for d in derivatives)
    uses_named = any(d.named_gradients for d in derivatives)
    grads = sum(len(identifiers.occurrences(d.formula, "grads")) for d in derivatives)
    indices = [i for d in derivatives for i in gradient_indices(d.formula)]
    if grads < len(indices):
        raise SpecError("grads[…] is used twice with a single character between", "put spaces around the operator")
    if uses_grad and grads:
        raise SpecError("the formulas mix 'grad' and 'grads'", "replace 'grad' by 'grads[0]'", needle="grad")
    if grads == len(indices) and set(indices) == {0}:
        problem = "the formulas use only 'grads[0]'"
        raise SpecError(problem, "if the first output is the only differentiable one, write 'grad'", needle="grads[0]")
    if uses_named and (uses_grad or grads):
        raise SpecError("the formulas mix named gradients with 'grad' or 'grads'", "keep to one of them", needle="grad")
