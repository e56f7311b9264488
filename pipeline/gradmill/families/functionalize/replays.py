"""Renders a kernel that functionalizes a view, and the declaration of the function that puts the view back.

torchgen: `gen_functionalization_type.emit_view_functionalization_body`,
`gen_functionalization_type.emit_has_symbolic_inputs`, `gen_functionalization_type.assert_view_op_properties`,
`signatures.ViewInverseSignature`, `functionalization.op_arguments`.
"""

from __future__ import annotations

from gradmill.cpp.bindings import passing_of
from gradmill.cpp.dispatcher import Parameter, goals, parameters
from gradmill.cpp.results import result_type
from gradmill.cpp.translate import translate
from gradmill.cpp.types import OWNED_LISTS
from gradmill.cpp.view_metas import check_base, makes_several, view_meta
from gradmill.families.functionalize.wrapping import META, TEXT, UNWRAPPED, in_kernel, scope
from gradmill.grammar.names import unambiguous_name
from gradmill.grammar.types import element
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Schema
from gradmill.model.views import ViewGroup
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

_BASE, _MUTATED = "const at::Tensor & base", "const at::Tensor & mutated_view"
_MODE = "at::functionalization::InverseReturnMode inverse_return_mode"


def view(function: NativeFunction, group: ViewGroup, release: Release) -> str:
    """The kernel of a view, or of its in-place variant. Raises SpecError for one that cannot be replayed."""
    schema, copy, text = function.func, group.copy, TEXT.of(release)
    if copy is None:
        hint = "functionalization calls it in place of the view"
        raise SpecError(f"'{group.view.func.name}' is a view and has no copy variant", hint, field=("func",))
    _check_one_base(schema)
    own_kernel, how = in_kernel(function, release, syncs=False), passing_of(function, release, symint=True)
    wanted = goals(parameters(copy.func, how))
    symbolic = [_is_symbolic(a.name, a.type) for a in copy.func.arguments if a.type.startswith("SymInt")]
    statements = [text["symbolic_input"].fill({"symbolic": each}) for each in symbolic]
    inplace = "inplace_view" in function.tags  # it only changes what its argument looks at
    values = {
        **own_kernel,
        "tensor": schema.arguments[0].name,
        "struct": unambiguous_name(schema.name),
        "arguments": ", ".join(translate(scope(function, release, UNWRAPPED), wanted)),
        "copy": unambiguous_name(copy.func.name),
        "meta_arguments": ", ".join(translate(scope(function, release, META), wanted)),
        "symbolic": text["symbolic"].fill({"statements": "\n      ".join(statements)}),
        "result": result_type(schema, release),
        "view_meta": _view_meta(
            schema=schema,
            view=group.view,
            copy=copy,
            others=parameters(group.view.func, how)[1:],
            release=release,
            inplace=inplace,
        ),
    }
    return text["inplace_view" if inplace else "view"].fill(values) + "\n"


def _view_meta(
    schema: Schema,
    view: NativeFunction,
    copy: NativeFunction,
    others: tuple[Parameter, ...],
    release: Release,
    *,
    inplace: bool,
) -> str:
    """The object that replays the view; before 2.9, closures in it did. `others`: parameters but the base."""
    text, is_list = TEXT.of(release), makes_several(schema)
    index, names = ["mutated_view_idx"] if is_list else [], [p.name for p in others]
    captures = [f"{p.name} = {p.name}.vec()" if p.type in OWNED_LISTS else f"{p.name} = {p.name}" for p in others]
    properties = {"is_list": str(is_list).lower(), "is_as_strided": str(str(schema.name) == "as_strided").lower()}
    members = ("has_symbolic_inputs", *(("0",) if is_list else ()), "reapply_views", "inverse_return_mode")
    return text["view_meta"].fill(
        {
            "captures": ", ".join(("reapply_views = reapply_views", *captures)),
            "inverse_captures": ", ".join(("inverse_return_mode = inverse_return_mode", *captures)),
            "view": unambiguous_name(view.func.name),
            "copy": unambiguous_name(copy.func.name),
            "replayed": ", ".join(("base", *names)),
            "index": f"[{index[0]}]" if index else "",
            "inverse_arguments": ", ".join(("base", "mutated_view", "inverse_return_mode", *index, *names)),
            "properties": "" if inplace else text["properties"].fill(properties),
            "class": view_meta(str(schema.name)),
            "members": ", ".join((*members, *names)),
        }
    )


def inverse(function: NativeFunction, release: Release) -> str:
    """The declaration of the function that puts what was written to a view back into its base. Raises SpecError as
    `view`."""
    schema, how, text = function.func, passing_of(function, release, symint=True), TEXT.of(release)
    check_base(schema)
    index = [text["index"].fill({})] if makes_several(schema) else []
    own = [f"{p.type} {p.name}" for p in parameters(schema, how)[1:]]
    declared = ", ".join((_BASE, _MUTATED, _MODE, *index, *own))
    return text["inverse"].fill({"struct": unambiguous_name(schema.name), "parameters": declared})


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
