"""Renders functionalization's kernels of a group, their registrations, and the functions that put views back.

A kernel of a function that writes to its arguments calls the functional variant, and then replaces what the arguments
hold. A kernel of a view makes a ViewMeta, by which functionalization replays it, and calls the view or its copy.

torchgen: `gen_functionalization_type.gen_functionalization_definition`,
`gen_functionalization_type.gen_functionalization_registration`,
`gen_functionalization_type.gen_functionalization_view_inverse_declaration`, `gen.gen_source_files`.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradmill.cpp.dispatcher import declared, kernel_name, returns_type
from gradmill.cpp.native import native_parameters
from gradmill.families.family import DEFINITION, INCLUDE, REGISTRATION
from gradmill.families.functionalize import INVERSE
from gradmill.families.functionalize.mutations import mutation
from gradmill.families.functionalize.replays import inverse, view
from gradmill.families.functionalize.wrapping import TEXT
from gradmill.families.template import pieces_of
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


def render(group: FunctionGroup, release: Release) -> dict[str, str]:
    """The pieces of a group. Raises SpecError for a function that functionalization cannot treat."""
    if group.view is not None:
        return _of_view(group.view, release, whole=not group.selective)
    functions = group.variants or ((group.alone,) if group.alone is not None else ())
    lists: dict[str, Iterable[str]] = {INCLUDE: _includes(functions, release)}
    if not group.selective and group.alone is not None:
        _check_alone(group.alone, release)
        is_functionalized = release.functionalizes(str(group.alone.func.name))
        lists[REGISTRATION] = _of_variants(functions, release) if is_functionalized else []
    elif not group.selective:
        by_kind = {schema_kind(f.func): f for f in functions}
        modified = [by_kind[kind] for kind in _MODIFIED if kind in by_kind]
        lists[DEFINITION] = [mutation(each, by_kind["functional"], release) for each in modified]
        lists[REGISTRATION] = _of_variants(functions, release)
    return pieces_of(lists)


def _of_view(group: ViewGroup, release: Release, *, whole: bool) -> dict[str, str]:
    both = [f for f in (group.view, group.inplace) if f is not None]
    composite = IMPLICIT in group.view.dispatch
    lists: dict[str, Iterable[str]] = {INCLUDE: _includes((group.view, group.copy), release)}
    if whole and str(group.view.func.name) not in _BY_HAND:
        lists[REGISTRATION] = [each for f in both for each in _of_view_function(f, release)]
    if whole and not composite:
        lists[DEFINITION] = [view(f, group, release) for f in both]
    return pieces_of(lists) | ({} if composite else {INVERSE: inverse(group.view, release)})


def _includes(functions: Iterable[NativeFunction | None], release: Release) -> list[str]:
    """The `#include`s of the headers of functions."""
    section, bases = TEXT.of(release)["include"], [f.func.name.base for f in functions if f is not None]
    return [line for base in bases for line in section.fill({"base": base}).split("\n")]


def _of_view_function(function: NativeFunction, release: Release) -> list[str]:
    """The registration of a view. One that is composed of other functions is registered as it is, if at all: these are
    functionalized."""
    kernel = function.dispatch.get(IMPLICIT)
    if kernel is None:
        return [_generated(function, release)]
    return [_of_kernel(function, kernel, release)] if release.registers_composed_views else []


def _of_kernel(function: NativeFunction, kernel: Kernel, release: Release) -> str:
    own = native_parameters(function, release, symint=kernel.supports_symint)
    pointer = f"{returns_type(function, release)} (*)({declared(own)})"
    values = {"operator": str(function.func.name), "kernel": kernel.name, "pointer": pointer}
    return TEXT.of(release)["registration_of_composed"].fill(values)


def _generated(function: NativeFunction, release: Release) -> str:
    values = {"operator": str(function.func.name), "kernel": kernel_name(function.func)}
    return TEXT.of(release)["registration"].fill(values)


def _of_variants(functions: tuple[NativeFunction, ...], release: Release) -> list[str]:
    """The registrations of variants that write to their arguments."""
    if any(str(f.func.name) == _SET for f in functions):
        return []
    own = [f for f in functions if IMPLICIT not in f.dispatch]
    if any(str(f.func.name) in _BY_HAND for f in own):
        return []
    for function in own:
        if function.func.name.unqualified != "set_" and is_view(function):
            problem = f"'{function.func.name}' is a view, and has an out variant"
            raise SpecError(problem, "views with out variants are not functionalized", field=("func",))
    return [_generated(f, release) for f in own if any_written(f.func.arguments)]


def _check_alone(function: NativeFunction, release: Release) -> None:
    """Raises a SpecError for a function that writes to its arguments and has no functional variant."""
    name = function.func.name
    if IMPLICIT in function.dispatch or not any_written(function.func.arguments):
        return
    if release.functionalizes(str(name), name.unqualified):
        problem = f"'{name}' writes to its arguments and has no functional and out variant"
        raise SpecError(problem, "functionalization needs both: add them, or autogen", field=("func",))
