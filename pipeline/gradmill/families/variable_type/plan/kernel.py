"""The plan of a function: a kernel for each dispatch key, or the boxed fallback.

torchgen: `gen_variable_type.gen_variable_type_func`, `gen_variable_type.emit_body`.
"""

from msgspec import Struct
from msgspec.structs import replace

from gradmill.cpp.bindings import cpp_name, passing_of
from gradmill.cpp.dispatcher import kernel_name, returned_results, returns_type
from gradmill.cpp.kernel_names import DEFAULT_KEY
from gradmill.cpp.types import argument_type
from gradmill.families import line_directives
from gradmill.families.variable_type.plan.call import KernelCall, Unpacked, call, unpacked
from gradmill.families.variable_type.plan.forward import Flag, Refusal, TangentFormula, any_tangent, flags, forward
from gradmill.families.variable_type.plan.node import Tracking, track
from gradmill.families.variable_type.plan.subject import subject_of
from gradmill.model.kernels import FunctionWithDerivatives, KernelDerivative
from gradmill.model.native import NativeFunction
from gradmill.problems.problem import SpecError
from gradmill.releases.model import BOXED_FALLBACK, Release
from gradmill.rules.matching.differentiability import differentiable_outputs


class Kernel(Struct, frozen=True, gc=False, array_like=True):
    """One kernel; its parts in the order of its text."""

    dispatch_key: str
    name: str
    returns: str
    parameters: tuple[str, ...]
    unpacked: tuple[Unpacked, ...]
    flags: tuple[Flag, ...]
    tracking: Tracking | None
    call: KernelCall
    forward: tuple[TangentFormula, ...] | Refusal
    resets_accumulator: bool
    result: str  # the returned expression, or ""


class FunctionPlan(Struct, frozen=True, gc=False, array_like=True):
    """The kernels of a function. A function without kernels is registered with upstream's boxed fallback."""

    operator: str
    kernels: tuple[Kernel, ...]


def plan(served: FunctionWithDerivatives, release: Release) -> FunctionPlan:
    """The plan of a function. Raises SpecError for derivatives that no kernel can have."""
    function = served.function
    name = str(function.func.name)
    if function.manual_kernel_registration:
        raise SpecError(
            f"'{name}' has manual_kernel_registration, but is not one of the manually registered ops",
            f"those are {', '.join(sorted(release.manual_backend))}",
            field=("manual_kernel_registration",),
        )
    if served.derivatives is None and BOXED_FALLBACK not in release.left_out and falls_back(function, release):
        return FunctionPlan(name, ())
    derivatives: tuple[KernelDerivative | None, ...] = served.derivatives or (None,)
    return FunctionPlan(name, tuple(_planned(function, each, release) for each in derivatives))


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


def _planned(function: NativeFunction, derivative: KernelDerivative | None, release: Release) -> Kernel:
    try:
        return _kernel(function, derivative, release)
    except SpecError as error:
        error.role = "derivatives" if derivative is not None else None
        raise


def _kernel(function: NativeFunction, derivative: KernelDerivative | None, release: Release) -> Kernel:
    key = derivative.dispatch_key if derivative is not None else DEFAULT_KEY
    subject = subject_of(function, derivative, release)
    tracking = track(subject)
    has_forward = derivative is not None and bool(derivative.forward)
    decomposed = tracking is not None and not has_forward and not subject.modifies and bool(function.func.returns)
    resets = function.func.name.unqualified in release.resets_accumulator
    if resets and not subject.inplace:
        raise SpecError(f"{subject.name} must reset the gradient accumulator, but is not an in-place op")
    return Kernel(
        dispatch_key=key,
        name=kernel_name(function.func, key),
        returns=returns_type(function, release),
        parameters=_parameters(function, release),
        unpacked=unpacked(subject),
        flags=flags(subject) if tracking is not None else (),
        tracking=tracking,
        call=call(subject, any_tangent(subject) if decomposed else ""),
        forward=forward(subject, decomposed=decomposed),
        resets_accumulator=resets,
        result=returned_results(function.func),
    )


def _parameters(function: NativeFunction, release: Release) -> tuple[str, ...]:
    how = passing_of(function, release, symint=True)
    return tuple(f"{argument_type(a.type, how, mutable=a.is_write).passed} {a.name}" for a in function.func.arguments)


def marked(plan: FunctionPlan) -> FunctionPlan:
    """The plan with marks around its forward formulas that name their outputs; they become `#line` directives."""
    return replace(plan, kernels=tuple(map(_marked, plan.kernels)))


def _marked(kernel: Kernel) -> Kernel:
    if isinstance(kernel.forward, Refusal):
        return kernel
    fields = ["result" if each.inplace else ", ".join(each.outputs) for each in kernel.forward]
    formulas = (
        replace(each, formula=line_directives.marked(each.formula, field))
        for each, field in zip(kernel.forward, fields)
    )
    return replace(kernel, forward=tuple(formulas))
