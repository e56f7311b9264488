"""The text of kernels that call other functions of their operator, and the `#include`s of these functions' headers.

The copy of a view clones what the view returns. A generated functional variant calls the in-place or mutable one with
clones of what that writes to; a generated out variant copies what the functional one returns.

torchgen: `gen_functionalization_type.GenCompositeViewCopyKernel`,
`native_function_generation.gen_composite_functional_kernel`, `native_function_generation.gen_composite_out_kernel`.
"""

from __future__ import annotations

from gradmill.cpp.bindings import cpp_name, passing_of
from gradmill.cpp.dispatcher import declared, goals, parameters, returns_type, values
from gradmill.cpp.native import native_parameters
from gradmill.cpp.results import aliased_arguments, each_result, fresh_results, return_statement
from gradmill.cpp.translate import Value, translate
from gradmill.families.family import INCLUDE
from gradmill.families.sections import Sections, Text
from gradmill.families.template import Template
from gradmill.grammar.names import unambiguous_name
from gradmill.model.native import NativeFunction
from gradmill.model.schema import SchemaKind, has_symint, schema_kind
from gradmill.model.views import FunctionGroup, ViewGroup
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.native.dispatch import EXPLICIT_NON_FUNCTIONAL

BY_RESHAPE = "view_copy_symint"  # the kernel of `view_copy`
_TEXT = Text("composite_kernels/kernels.cpp", phrases=True)


def render(group: FunctionGroup, release: Release) -> dict[str, str]:
    """The kernels of a group by name, and the `#include`s. Raises SpecError for a kernel that cannot be made."""
    text, view, own = _TEXT.of(release), group.view, {schema_kind(f.func): f for f in group.variants}
    if view is not None:
        bases = [f.func.name.base for f in (view.view, view.copy) if f is not None]
        copy = _copy(view, release, text)
        return {INCLUDE: _included(bases, text["include_of_view"])} | ({} if copy is None else {"copy": copy})
    declares = [own[kind] for kind in ("inplace", "mutable", "functional") if kind in own and _declared(own[kind])]
    made = {kind for kind, function in own.items() if not _declared(function)}
    pieces = {INCLUDE: _included([f.func.name.base for f in declares], text["include_of_variant"])}
    if "functional" in made:
        pieces["functional"] = _functional(own, release, text)
    if "out" in made:
        pieces["out"] = _out(own["out"], own["functional"], release, text)
    return pieces


def _included(bases: list[str], section: Template) -> str:
    return "\n".join(section.fill({"base": base}) for base in bases)


def _declared(function: NativeFunction) -> bool:
    return "generated" not in function.tags


def _copy(group: ViewGroup, release: Release, text: Sections) -> str | None:
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
    if by_reshape:
        return text["by_reshape"].fill({})
    return text["copies" if returned == ["Tensor[]"] else "copy"].fill(
        {
            "returns": returns_type(copy, release),
            "name": kernel.name,
            "parameters": declared(own),
            "struct": unambiguous_name(view.func.name),
            "arguments": ", ".join(arguments),
        }
    )


def _functional(group: dict[SchemaKind, NativeFunction], release: Release, text: Sections) -> str:
    """The kernel of a generated functional variant."""
    own, how = group["functional"], passing_of(group["out"], release, symint=True)
    target = next((group[kind] for kind in ("inplace", "mutable") if kind in group and _declared(group[kind])), None)
    if target is None:
        raise SpecError(f"no declared variant writes to arguments, to make '{own.func.name}' from", field=("func",))
    taken = parameters(own.func, how)
    cloned = [p.name for p, a in zip(taken, target.func.arguments) if a.is_write]
    scope = [Value(p.name, p.type, f"{p.name}_clone" if p.name in cloned else p.name) for p in taken]
    returned = [*fresh_results(target.func, "output"), *(f"{name}_clone" for name in cloned)]
    return text["functional"].fill(
        {
            "returns": returns_type(own, release),
            "name": cpp_name(own.func) + _suffix(group["out"]),
            "parameters": declared(taken),
            "struct": unambiguous_name(target.func.name),
            "arguments": ", ".join(translate(scope, goals(parameters(target.func, how)))),
            "returned": return_statement(own, returned, release),
            "clones": "\n".join(text["clone"].fill({"argument": each}) for each in cloned),
            "assigned": "auto output = " if target.func.returns else "",
        }
    )


def _out(own: NativeFunction, functional: NativeFunction, release: Release, text: Sections) -> str:
    """The kernel of a generated out variant."""
    how = passing_of(own, release, symint=True)
    taken = parameters(own.func, how)
    results = each_result(functional.func, "tmp_output", max(len(own.func.out), len(own.func.returns)))
    returned = [alias or result for alias, result in zip(aliased_arguments(own.func), results)]
    copies = ((a.name, each) for a, each in zip(own.func.out, results))
    return text["out"].fill(
        {
            "returns": returns_type(own, release),
            "name": unambiguous_name(own.func.name) + _suffix(own),
            "parameters": declared(taken),
            "struct": unambiguous_name(functional.func.name),
            "arguments": ", ".join(translate(values(taken), goals(parameters(functional.func, how)))),
            "returned": return_statement(own, returned, release),
            "copies": "\n".join(text["copy_of_result"].fill({"out": out, "result": each}) for out, each in copies),
        }
    )


def _suffix(out: NativeFunction) -> str:
    return "_symint" if has_symint(out.func) else ""
