"""Renders the ViewMetas of a view: the `#include`s of its operators' headers, declarations, definitions.

A ViewMeta replays a view in functionalization. A view has a class, and so has its in-place variant; both call the view.

torchgen: `gen_functionalization_type.ViewMetaSpecialization`, `functionalization.op_arguments`.
"""

from __future__ import annotations

from gradmill.cpp.bindings import passing_of
from gradmill.cpp.dispatcher import Parameter
from gradmill.cpp.types import OWNED_LISTS, CppType, argument_type
from gradmill.cpp.view_metas import check_base, makes_several, view_meta
from gradmill.families.family import DECLARATION, DEFINITION, INCLUDE
from gradmill.families.sections import Text
from gradmill.families.template import pieces_of
from gradmill.grammar.names import unambiguous_name
from gradmill.model.native import NativeFunction
from gradmill.model.views import ViewGroup
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

_TEXT = Text("view_metas/view_metas.cpp")
_INDEX = Parameter("out_index", "int64_t")
_OWN = (
    Parameter("reapply_views", "bool"),
    Parameter("inverse_return_mode", "at::functionalization::InverseReturnMode"),
)
_SINGLE = ("replay_split_Tensor", "replay_split_with_sizes", "replay_unbind_int")
# Which operators these call, in the arm that replays views and in the one that copies.
_VIEWS = {"slice": "slice_Tensor", "select": "select_int"}
_COPIES = {"slice": "slice_copy_Tensor", "select": "select_copy_int"}


def render(group: ViewGroup, release: Release) -> dict[str, str]:
    """The pieces of a view. It has no classes if no ViewMeta replays it. Raises SpecError for a view that none can
    replay."""
    section = _TEXT.of(release)["include"]
    bases = [each.func.name.base for each in (group.view, group.copy) if each is not None]
    lists = {INCLUDE: [line for base in bases for line in section.fill({"base": base}).splitlines()]}
    if not group.replayed:
        return pieces_of(lists)
    if group.copy is None:
        hint = "ViewMetas call it if views are not to be replayed"
        raise SpecError(f"'{group.view.func.name}' is a view and has no copy variant", hint, field=("func",))
    own = (group.view,) if group.inplace is None else (group.view, group.inplace)
    lists[DECLARATION] = [_declaration(each, release) for each in own]
    lists[DEFINITION] = [text for each in own for text in _definitions(each, group, group.copy, release)]
    return pieces_of(lists)


def _parameters(function: NativeFunction, release: Release) -> dict[Parameter, Parameter]:
    """The parameters of a class that differ between classes, each with the member of its name: a list that is passed by
    reference is copied. Raises SpecError for a type without C++."""
    schema, how = function.func, passing_of(function, release, symint=True)
    check_base(schema)
    types = {a: argument_type(a.type, how, mutable=a.is_write) for a in schema.arguments[1:]}
    return {
        Parameter(a.name, type_.passed): Parameter(a.name, _member(a.type, type_, release))
        for a, type_ in types.items()
    }


def _member(type_: str, cpp: CppType, release: Release) -> str:
    """The C++ type of a member: of a list of integers a copy, and since 2.14 of a tensor and a scalar."""
    copied = type_ in release.copied_in_views and cpp.passed.startswith("const ")
    return OWNED_LISTS.get(cpp.passed) or (cpp.value if copied else cpp.passed)


def _first(function: NativeFunction) -> tuple[Parameter, ...]:
    """The first parameters of a class, which are those of its base class."""
    return (Parameter("has_symbolic_inputs", "bool"), *((_INDEX,) if makes_several(function.func) else ()))


def _declaration(function: NativeFunction, release: Release) -> str:
    text, is_list, name = _TEXT.of(release), makes_several(function.func), function.func.name
    of_class = _parameters(function, release)
    first, own, members = _first(function), (*_OWN, *of_class), (*_OWN, *of_class.values())
    values = [f"{p.name}.vec()" if p.type in OWNED_LISTS else p.name for p in own]
    return text["declaration"].fill(
        {
            "name": view_meta(str(name)),
            "tuple_types": ",\n".join(f"{p.type} /* {p.name} */" for p in (*first, *members)),
            "elements": [f"std::get<{i}>(tpl)" for i in range(len(first) + len(own))],
            "parameters": [f"{p.type} {p.name}" for p in (*first, *own)],
            "is_multi_output": str(is_list).lower(),
            "is_as_strided": str(str(name) == "as_strided").lower(),
            "out_index": _INDEX.name if is_list else "0",
            "initializers": ",\n".join(f"{p.name}({value})" for p, value in zip(own, values)),
            "to_out_index": text["to_out_index"].fill({}) if is_list else "",
            "names": [p.name for p in (*first, *members)],
            "members": [f"{p.type} {p.name};" for p in members],
        }
    )


def _definitions(function: NativeFunction, group: ViewGroup, copy: NativeFunction, release: Release) -> list[str]:
    """The member functions of a class. Raises SpecError as `_replay` does."""
    text, is_list = _TEXT.of(release), makes_several(function.func)
    arguments = [a.name for a in copy.func.arguments[1:]]
    index = [_INDEX.name] if makes_several(copy.func) else []
    values = {
        "name": view_meta(str(function.func.name)),
        "struct": unambiguous_name(group.view.func.name),
        "view": _replay(function=function, of=group.view, arguments=arguments, called=_VIEWS, release=release),
        "copy": _replay(function=function, of=copy, arguments=arguments, called=_COPIES, release=release),
        "reverse_arguments": ["base", "mutated_view", "inverse_return_mode", *index, *arguments],
        "names": [p.name for p in (*_first(function), *_OWN, *_parameters(function, release))],
    }
    members = [text[section].fill(values).removesuffix("\n") for section in ("forward", "reverse")]
    return [*members, text["to_single_output"].fill(values)] if is_list else members


def _replay(
    function: NativeFunction, of: NativeFunction, arguments: list[str], called: dict[str, str], release: Release
) -> str:
    """The call of the view, or of its copy. Since 2.15 a view of several outputs makes one of them alone: SpecError for
    a function for which upstream does not say how."""
    text, is_list, struct = _TEXT.of(release), makes_several(function.func), unambiguous_name(of.func.name)
    single = f"replay_{view_meta(str(function.func.name)).removesuffix('_ViewMeta')}"
    if single in text:
        return text[single].fill(called)
    if is_list and _SINGLE[0] in text:
        hint = "torchgen knows it only for split.Tensor, split_with_sizes and unbind.int"
        raise SpecError(f"how '{struct}' makes a single one of its views is not known", hint, field=("func",))
    index = f"[{_INDEX.name}]" if is_list else ""
    return text["replay"].fill({"struct": struct, "arguments": ["base", *arguments], "index": index})
