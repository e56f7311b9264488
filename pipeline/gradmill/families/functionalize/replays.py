"""The plan of a kernel that functionalizes a view, and of the function that puts the view back.

torchgen: `gen_functionalization_type.emit_view_functionalization_body`,
`gen_functionalization_type.emit_has_symbolic_inputs`, `gen_functionalization_type.assert_view_op_properties`,
`signatures.ViewInverseSignature`, `functionalization.op_arguments`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.bindings import passing_of
from gradmill.cpp.dispatcher import Parameter, goals, parameters
from gradmill.cpp.results import result_type
from gradmill.cpp.translate import translate
from gradmill.cpp.types import OWNED_LISTS
from gradmill.cpp.view_metas import check_base, makes_several, view_meta
from gradmill.families.functionalize.wrapping import META, UNWRAPPED, KernelSignature, kernel_of, scope
from gradmill.grammar.names import unambiguous_name
from gradmill.grammar.types import element
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Schema
from gradmill.model.views import ViewGroup
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release


class Inverse(Struct, frozen=True, gc=False, array_like=True):
    """The function that puts what was written to a view back into its base."""

    struct: str  # of the view
    is_list: bool  # whether it takes the number of the view
    parameters: tuple[Parameter, ...]  # without the base


class View(Struct, frozen=True, gc=False, array_like=True):
    """The kernel of a view, or of its in-place variant."""

    kernel: KernelSignature
    inplace: bool  # whether it only changes what its argument looks at
    tensor: str  # the argument that it is a view of
    struct: str
    arguments: str  # of the view and its copy
    copy: str  # the struct of its copy
    meta_arguments: str
    symbolic: tuple[str, ...]  # whether arguments are symbolic, as expressions
    result: str  # the type of its result
    view_meta: str  # the class that replays it
    is_list: bool  # whether it makes several views
    is_as_strided: bool
    view: str  # the struct of the out-of-place view
    others: tuple[str, ...]  # arguments but the base
    captured: tuple[str, ...]  # what a closure that replays the view captures of these


def view(function: NativeFunction, group: ViewGroup, release: Release) -> View:
    """The kernel of a view, or of its in-place variant. Raises SpecError for one that cannot be replayed."""
    schema, copy = function.func, group.copy
    if copy is None:
        hint = "functionalization calls it in place of the view"
        raise SpecError(f"'{group.view.func.name}' is a view and has no copy variant", hint, field=("func",))
    _check_one_base(schema)
    kernel, how = kernel_of(function, release), passing_of(function, release, symint=True)
    wanted = goals(parameters(copy.func, how))
    others = parameters(group.view.func, how)[1:]
    return View(
        kernel=kernel,
        inplace="inplace_view" in function.tags,
        tensor=schema.arguments[0].name,
        struct=unambiguous_name(schema.name),
        arguments=", ".join(translate(scope(kernel, UNWRAPPED), wanted)),
        copy=unambiguous_name(copy.func.name),
        meta_arguments=", ".join(translate(scope(kernel, META), wanted)),
        symbolic=tuple(_is_symbolic(a.name, a.type) for a in copy.func.arguments if a.type.startswith("SymInt")),
        result=result_type(schema, release),
        view_meta=view_meta(str(schema.name)),
        is_list=makes_several(schema),
        is_as_strided=str(schema.name) == "as_strided",
        view=unambiguous_name(group.view.func.name),
        others=tuple(p.name for p in others),
        captured=tuple(f"{p.name}.vec()" if p.type in OWNED_LISTS else p.name for p in others),
    )


def inverse(function: NativeFunction, release: Release) -> Inverse:
    """The function that puts a view back. Raises SpecError as `view`."""
    schema, how = function.func, passing_of(function, release, symint=True)
    check_base(schema)
    return Inverse(unambiguous_name(schema.name), makes_several(schema), parameters(schema, how)[1:])


def _check_one_base(schema: Schema) -> None:
    check_base(schema)
    first, *others = schema.inputs or schema.arguments
    if first.annotation is None or any(a.annotation is not None for a in others):
        problem = f"view '{schema.name}' is not a view of its first argument alone"
        raise SpecError(problem, "functionalization replays views of one base", field=("func",))


def _is_symbolic(text: str, type_: str) -> str:
    """Whether a value of integers is symbolic, as an expression."""
    if type_ == "SymInt":
        return f"{text}.is_symbolic()"
    inner = element(type_)
    assert inner is not None
    if type_.endswith("?"):
        return f"{text}.has_value() ? {_is_symbolic(f'(*{text})', inner)} : false"
    if inner != "SymInt":
        raise SpecError(
            f"'{type_}' cannot be checked for symbolic integers", "a view takes lists of SymInt", needle=type_
        )
    return f"std::any_of({text}.begin(), {text}.end(), [=](auto& arg) {{ return {_is_symbolic('arg', inner)}; }})"
