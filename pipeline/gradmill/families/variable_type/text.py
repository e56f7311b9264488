"""Renders the kernels of a function and their registrations: a kernel for each dispatch key, or the boxed fallback.

torchgen: `gen_variable_type.gen_variable_type_func`, `gen_variable_type.emit_body`.
"""

from __future__ import annotations

from gradmill.cpp.bindings import check_default, cpp_name, passing_of
from gradmill.cpp.dispatcher import kernel_name, returned_results, signature_of
from gradmill.cpp.kernel_names import DEFAULT_KEY
from gradmill.families.variable_type import definition_of, registration_of
from gradmill.families.variable_type.steps.call import call, unpacked
from gradmill.families.variable_type.steps.forward import any_tangent, flags, forward
from gradmill.families.variable_type.steps.node import after_all, before_call, history
from gradmill.families.variable_type.steps.saving import save_inputs, save_outputs
from gradmill.families.variable_type.steps.subject import TEXT, subject_of
from gradmill.model.kernels import FunctionWithDerivatives, KernelDerivative
from gradmill.model.native import NativeFunction
from gradmill.problems.problem import SpecError
from gradmill.releases.model import BOXED_FALLBACK, Release
from gradmill.rules.matching.differentiability import differentiable_outputs


def render(of: FunctionWithDerivatives, release: Release, *, markers: bool = False) -> dict[str, str]:
    """The pieces of a function, by name. `markers`: whether forward formulas stand between markers that name their
    outputs. Raises SpecError for derivatives that no kernel can have."""
    text, function, name = TEXT.of(release), of.function, str(of.function.func.name)
    if function.manual_kernel_registration:
        raise SpecError(
            f"'{name}' has manual_kernel_registration, but is not one of the manually registered ops",
            f"those are {', '.join(sorted(release.manual_backend))}",
            field=("manual_kernel_registration",),
        )
    if of.derivatives is None and BOXED_FALLBACK not in release.left_out and falls_back(function, release):
        return {registration_of(DEFAULT_KEY): text["fallback"].fill({"operator": name})}
    pieces, how = {}, passing_of(function, release, symint=True)
    for argument in function.func.arguments:  # upstream prints defaults to unpack the arguments, and drops them
        if argument.default is not None:
            check_default(argument, how)
    derivatives: tuple[KernelDerivative | None, ...] = of.derivatives or (None,)
    for derivative in derivatives:
        key = derivative.dispatch_key if derivative is not None else DEFAULT_KEY
        kernel = kernel_name(function.func, key)
        try:
            pieces[definition_of(key)] = _definition(function, derivative, kernel, release, markers=markers)
        except SpecError as error:
            error.role = "derivatives" if derivative is not None else None
            raise
        pieces[registration_of(key)] = text["registration"].fill({"operator": name, "name": kernel})
    return pieces


def falls_back(function: NativeFunction, release: Release) -> bool:
    """Whether a function without derivatives needs no generated kernel: it has differentiable outputs, and no list of
    exceptions contains it."""
    schema, wrapper = function.func, kernel_name(function.func)
    if schema.name.unqualified in release.resets_accumulator or schema.name.base in release.dont_require_derivative:
        return False
    if wrapper in release.dont_enforce_storage_impl_use_count or wrapper in release.dont_enforce_tensor_impl_use_count:
        return False
    if cpp_name(schema) in release.dont_enforce_same_tensor_impl_or_storage:
        return False
    return bool(differentiable_outputs(function, None, release))


def _definition(
    function: NativeFunction, derivative: KernelDerivative | None, name: str, release: Release, *, markers: bool
) -> str:
    subject = subject_of(function, derivative, release)
    tracked, has_forward = subject.tracked, derivative is not None and bool(derivative.forward)
    saves = (save_inputs(subject), save_outputs(subject)) if tracked else ([], [])
    decomposed = tracked and not has_forward and not subject.modifies and bool(function.func.returns)
    resets = function.func.name.unqualified in release.resets_accumulator
    if resets and not subject.inplace:
        raise SpecError(f"{subject.name} must reset the gradient accumulator, but is not an in-place op")
    result = returned_results(function.func)
    body = [
        *unpacked(subject),
        *(before_call(subject, flags(subject), saves[0]) if tracked else ()),
        *call(subject, any_tangent(subject) if decomposed else ""),
        *(history(subject) if tracked else ()),
        *forward(subject, decomposed=decomposed, markers=markers),
        *(after_all(subject, saves[1]) if tracked else ()),
        *(["reset_grad_accumulator(self);"] if resets else ()),
        *([f"return {result};"] if result else ()),
    ]
    signature = signature_of(function, release)
    values = {"returns": signature.returns, "name": name, "parameters": signature.declared, "body": body}
    return TEXT.of(release)["kernel"].fill(values)
