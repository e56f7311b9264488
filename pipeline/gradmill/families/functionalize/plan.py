"""The plan of functionalization's kernels: all facts that their text needs.

A kernel of a function that writes to its arguments calls the functional variant, and then replaces what the arguments
hold. A kernel of a view makes a ViewMeta, by which functionalization replays it, and calls the view or its copy.

torchgen: `gen_functionalization_type.gen_functionalization_definition`,
`gen_functionalization_type.gen_functionalization_registration`,
`gen_functionalization_type.gen_functionalization_view_inverse_declaration`, `gen.gen_source_files`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.dispatcher import declared, kernel_name, returns_type
from gradmill.cpp.native import native_parameters
from gradmill.families.functionalize.mutations import Mutation, mutation
from gradmill.families.functionalize.replays import Inverse, View, inverse, view
from gradmill.model.native import Kernel, NativeFunction
from gradmill.model.schema import any_written, schema_kind
from gradmill.model.views import FunctionGroup, ViewGroup
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.native.dispatch import IMPLICIT
from gradmill.rules.native.heads import is_view

_BY_HAND = ("lift", "lift_fresh", "resize_")  # functions with handwritten kernels, as all with one of these among
_SET = "set_.source_Tensor"  # their variants, or with this one
_MODIFIED = ("out", "inplace", "mutable")  # in the order of their kernels


class Registration(Struct, frozen=True, gc=False, array_like=True):
    """The registration of a kernel."""

    operator: str
    kernel: str
    pointer: str = ""  # the type of a pointer to a kernel of ATen; "": the kernel is generated


class FunctionalizationPlan(Struct, frozen=True, gc=False, array_like=True):
    """The kernels of a group."""

    bases: tuple[str, ...]  # base names of its operators, for `#include`s
    mutations: tuple[Mutation, ...] = ()
    views: tuple[View, ...] = ()
    registrations: tuple[Registration, ...] = ()
    inverse: Inverse | None = None  # the function that puts a view back


def plan(group: FunctionGroup, release: Release) -> FunctionalizationPlan:
    """The plan of a group. Raises SpecError for a function that functionalization cannot treat."""
    if group.view is not None:
        return _of_view(group.view, release, whole=not group.selective)
    functions = group.variants or ((group.alone,) if group.alone is not None else ())
    bases = tuple(f.func.name.base for f in functions)
    if group.selective:
        return FunctionalizationPlan(bases)
    if group.alone is not None:
        _check_alone(group.alone, release)
        return FunctionalizationPlan(bases, registrations=_of_alone(group.alone, release))
    by_kind = {schema_kind(f.func): f for f in functions}
    return FunctionalizationPlan(
        bases,
        tuple(mutation(by_kind[kind], by_kind["functional"], release) for kind in _MODIFIED if kind in by_kind),
        registrations=_of_variants(functions),
    )


def _of_view(group: ViewGroup, release: Release, *, whole: bool) -> FunctionalizationPlan:
    both = [f for f in (group.view, group.inplace) if f is not None]
    composite = IMPLICIT in group.view.dispatch
    registered: list[Registration] = []
    if whole and str(group.view.func.name) not in _BY_HAND:
        registered = [each for f in both for each in _of_view_function(f, release)]
    return FunctionalizationPlan(
        tuple(f.func.name.base for f in (group.view, group.copy) if f is not None),
        views=tuple(view(f, group, release) for f in both) if whole and not composite else (),
        registrations=tuple(registered),
        inverse=None if composite else inverse(group.view, release),
    )


def _of_view_function(function: NativeFunction, release: Release) -> list[Registration]:
    """The registration of a view. One that is composed of other functions is registered as it is, if at all: these are
    functionalized."""
    kernel = function.dispatch.get(IMPLICIT)
    if kernel is None:
        return [_generated(function)]
    return [_of_kernel(function, kernel, release)] if release.registers_composed_views else []


def _of_kernel(function: NativeFunction, kernel: Kernel, release: Release) -> Registration:
    own = native_parameters(function, release, symint=kernel.supports_symint)
    pointer = f"{returns_type(function, release)} (*)({declared(own)})"
    return Registration(str(function.func.name), kernel.name, pointer)


def _generated(function: NativeFunction) -> Registration:
    return Registration(str(function.func.name), kernel_name(function.func))


def _of_variants(functions: tuple[NativeFunction, ...]) -> tuple[Registration, ...]:
    """The registrations of variants that write to their arguments."""
    if any(str(f.func.name) == _SET for f in functions):
        return ()
    own = [f for f in functions if IMPLICIT not in f.dispatch]
    if any(str(f.func.name) in _BY_HAND for f in own):
        return ()
    for function in own:
        if function.func.name.unqualified != "set_" and is_view(function):
            problem = f"'{function.func.name}' is a view, and has an out variant"
            raise SpecError(problem, "views with out variants are not functionalized", field=("func",))
    return tuple(_generated(f) for f in own if any_written(f.func.arguments))


def _of_alone(function: NativeFunction, release: Release) -> tuple[Registration, ...]:
    return _of_variants((function,)) if release.functionalizes(str(function.func.name)) else ()


def _check_alone(function: NativeFunction, release: Release) -> None:
    """Raises a SpecError for a function that writes to its arguments and has no functional variant."""
    name = function.func.name
    if IMPLICIT in function.dispatch or not any_written(function.func.arguments):
        return
    if release.functionalizes(str(name), name.unqualified):
        problem = f"'{name}' writes to its arguments and has no functional and out variant"
        raise SpecError(problem, "functionalization needs both: add them, or autogen", field=("func",))
