"""The plan of the kernels that call other functions of their operator: all facts that their text needs.

The copy of a view clones what the view returns. A generated functional variant calls the in-place or mutable one with
clones of what that writes to; a generated out variant copies what the functional one returns.

torchgen: `gen_functionalization_type.GenCompositeViewCopyKernel`,
`native_function_generation.gen_composite_functional_kernel`, `native_function_generation.gen_composite_out_kernel`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.bindings import cpp_name, passing_of
from gradmill.cpp.dispatcher import Parameter, goals, parameters, returns_type, values
from gradmill.cpp.native import native_parameters
from gradmill.cpp.results import aliased_arguments, each_result, fresh_results, return_statement
from gradmill.cpp.translate import Value, translate
from gradmill.grammar.names import unambiguous_name
from gradmill.model.native import NativeFunction
from gradmill.model.schema import SchemaKind, has_symint, schema_kind
from gradmill.model.views import Together, ViewGroup
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.native.dispatch import EXPLICIT_NON_FUNCTIONAL

BY_RESHAPE = "view_copy_symint"  # the kernel of `view_copy`


class CompositeKernel(Struct, frozen=True, gc=False, array_like=True):
    """A kernel, and its call of another function."""

    returns: str
    name: str
    parameters: tuple[Parameter, ...]
    struct: str  # of the function that it calls
    arguments: str
    returned: str  # the statement at its end; "" for a view's copy
    assigned: bool = True  # whether the call returns something
    clones: tuple[str, ...] = ()  # arguments that it passes as clones
    copies: tuple[tuple[str, str], ...] = ()  # out arguments, and the results that are copied to them
    is_list: bool = False  # whether the view returns several tensors
    by_reshape: bool = False  # whether it also copies what is not a view


class CompositesPlan(Struct, frozen=True, gc=False, array_like=True):
    """The kernels of a group."""

    is_view: bool
    included: tuple[str, ...]  # base names of the view and its copy, or of declared variants but the out one
    copy: CompositeKernel | None
    functional: CompositeKernel | None
    out: CompositeKernel | None


def plan(group: Together, release: Release) -> CompositesPlan:
    """The plan of a group. Raises SpecError for a kernel that cannot be made."""
    view, own = group.view, {schema_kind(f.func): f for f in group.variants}
    if view is not None:
        bases = tuple(f.func.name.base for f in (view.view, view.copy) if f is not None)
        return CompositesPlan(is_view=True, included=bases, copy=_copy(view, release), functional=None, out=None)
    declared = [own[kind] for kind in ("inplace", "mutable", "functional") if kind in own and _declared(own[kind])]
    made = {kind for kind, function in own.items() if not _declared(function)}
    return CompositesPlan(
        is_view=False,
        included=tuple(f.func.name.base for f in declared),
        copy=None,
        functional=_functional(own, release) if "functional" in made else None,
        out=_out(own["out"], own["functional"], release) if "out" in made else None,
    )


def _declared(function: NativeFunction) -> bool:
    return "generated" not in function.tags


def _copy(group: ViewGroup, release: Release) -> CompositeKernel | None:
    """The kernel of a view's copy; None if it has another name, and so its own kernel."""
    view, copy = group.view, group.copy
    if copy is None or copy.func.name.base != f"{view.func.name.unqualified}_copy":
        return None
    kernel = copy.dispatch.get(EXPLICIT_NON_FUNCTIONAL)
    if kernel is None:
        problem = f"'{copy.func.name}' has no kernel for {EXPLICIT_NON_FUNCTIONAL}"
        raise SpecError(problem, "add one to its dispatch: it is generated", field=("func",))
    by_reshape = str(copy.func.name) == "view_copy"
    if by_reshape and kernel.name != BY_RESHAPE:
        problem = f"the kernel of 'view_copy' is {kernel.name}, and {BY_RESHAPE} is generated"
        raise SpecError(problem, f"call it {BY_RESHAPE}", field=("dispatch",))
    returned = [r.type for r in view.func.returns]
    if returned not in (["Tensor"], ["Tensor[]"]):
        raise SpecError(
            f"view '{view.func.name}' returns neither a Tensor nor a Tensor[]", field=("func",), needle="->"
        )
    own = native_parameters(copy, release, symint=kernel.supports_symint)
    arguments = translate(values(own), goals(parameters(view.func, passing_of(view, release, symint=True))))
    return CompositeKernel(
        returns=returns_type(copy, release),
        name=kernel.name,
        parameters=own,
        struct=unambiguous_name(view.func.name),
        arguments=", ".join(arguments),
        returned="",
        is_list=returned == ["Tensor[]"],
        by_reshape=by_reshape,
    )


def _functional(group: dict[SchemaKind, NativeFunction], release: Release) -> CompositeKernel:
    """The kernel of a generated functional variant."""
    own, how = group["functional"], passing_of(group["out"], release, symint=True)
    target = next((group[kind] for kind in ("inplace", "mutable") if kind in group and _declared(group[kind])), None)
    if target is None:
        raise SpecError(f"no declared variant writes to arguments, to make '{own.func.name}' from", field=("func",))
    declared = parameters(own.func, how)
    cloned = tuple(p.name for p, a in zip(declared, target.func.arguments) if a.is_write)
    scope = [Value(p.name, p.type, f"{p.name}_clone" if p.name in cloned else p.name) for p in declared]
    returned = [*fresh_results(target.func, "output"), *(f"{name}_clone" for name in cloned)]
    return CompositeKernel(
        returns=returns_type(own, release),
        name=cpp_name(own.func) + _suffix(group["out"]),
        parameters=declared,
        struct=unambiguous_name(target.func.name),
        arguments=", ".join(translate(scope, goals(parameters(target.func, how)))),
        returned=return_statement(own, returned, release),
        assigned=bool(target.func.returns),
        clones=cloned,
    )


def _out(own: NativeFunction, functional: NativeFunction, release: Release) -> CompositeKernel:
    """The kernel of a generated out variant."""
    how = passing_of(own, release, symint=True)
    declared = parameters(own.func, how)
    results = each_result(functional.func, "tmp_output", max(len(own.func.out), len(own.func.returns)))
    returned = [alias or result for alias, result in zip(aliased_arguments(own.func), results)]
    return CompositeKernel(
        returns=returns_type(own, release),
        name=unambiguous_name(own.func.name) + _suffix(own),
        parameters=declared,
        struct=unambiguous_name(functional.func.name),
        arguments=", ".join(translate(values(declared), goals(parameters(functional.func, how)))),
        returned=return_statement(own, returned, release),
        copies=tuple((a.name, each) for a, each in zip(own.func.out, results)),
    )


def _suffix(out: NativeFunction) -> str:
    return "_symint" if has_symint(out.func) else ""
