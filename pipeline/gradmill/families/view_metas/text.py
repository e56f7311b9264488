"""Renders the ViewMetas of a view: the `#include`s of its operators' headers, declarations, definitions."""

from __future__ import annotations

from gradmill.cpp.dispatcher import Parameter
from gradmill.cpp.types import OWNED_LISTS
from gradmill.families.sections import Sections, Text
from gradmill.families.template import piece_of
from gradmill.families.view_metas.plan import ViewMeta, ViewMetasPlan
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release

_TEXT = Text("view_metas/view_metas.cpp")
_INDEX = Parameter("out_index", "int64_t")
_SINGLE = ("replay_split_Tensor", "replay_split_with_sizes", "replay_unbind_int")
# Which operators these call, in the arm that replays views and in the one that copies.
_VIEWS = {"slice": "slice_Tensor", "select": "select_int"}
_COPIES = {"slice": "slice_copy_Tensor", "select": "select_copy_int"}


def include(plan: ViewMetasPlan, release: Release) -> str | None:
    """The `#include`s of the headers of the view and its copy."""
    section = _TEXT.of(release)["include"]
    return piece_of(line for base in plan.bases for line in section.fill({"base": base}).splitlines())


def declaration(plan: ViewMetasPlan, release: Release) -> str | None:
    """The classes."""
    return piece_of(_declaration(each, _TEXT.of(release)) for each in plan.classes)


def definition(plan: ViewMetasPlan, release: Release) -> str | None:
    """The member functions of all classes. Raises SpecError as `_replay` does."""
    return piece_of(each for view_meta in plan.classes for each in _definitions(view_meta, plan, _TEXT.of(release)))


def _first(view_meta: ViewMeta) -> tuple[Parameter, ...]:
    """The first parameters of a class, which are those of its base class."""
    return (Parameter("has_symbolic_inputs", "bool"), *((_INDEX,) if view_meta.is_list else ()))


def _own(parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """The other parameters or members of a class."""
    mode = Parameter("inverse_return_mode", "at::functionalization::InverseReturnMode")
    return (Parameter("reapply_views", "bool"), mode, *parameters)


def _declaration(view_meta: ViewMeta, text: Sections) -> str:
    first, own, members = _first(view_meta), _own(view_meta.parameters), _own(view_meta.members)
    values = [f"{p.name}.vec()" if p.type in OWNED_LISTS else p.name for p in own]
    return text["declaration"].fill(
        {
            "name": view_meta.name,
            "tuple_types": ",\n".join(f"{p.type} /* {p.name} */" for p in (*first, *members)),
            "elements": [f"std::get<{i}>(tpl)" for i in range(len(first) + len(own))],
            "parameters": [f"{p.type} {p.name}" for p in (*first, *own)],
            "is_multi_output": str(view_meta.is_list).lower(),
            "is_as_strided": str(view_meta.is_as_strided).lower(),
            "out_index": _INDEX.name if view_meta.is_list else "0",
            "initializers": ",\n".join(f"{p.name}({value})" for p, value in zip(own, values)),
            "to_out_index": text["to_out_index"].fill({}) if view_meta.is_list else "",
            "names": [p.name for p in (*first, *members)],
            "members": [f"{p.type} {p.name};" for p in members],
        }
    )


def _definitions(view_meta: ViewMeta, plan: ViewMetasPlan, text: Sections) -> list[str]:
    index = [_INDEX.name] if plan.is_list else []
    values = {
        "name": view_meta.name,
        "struct": plan.struct,
        "view": _replay(view_meta, plan, plan.struct, _VIEWS, text),
        "copy": _replay(view_meta, plan, plan.copy_struct, _COPIES, text),
        "reverse_arguments": ["base", "mutated_view", "inverse_return_mode", *index, *plan.arguments],
        "names": [p.name for p in (*_first(view_meta), *_own(view_meta.members))],
    }
    members = [text[section].fill(values).removesuffix("\n") for section in ("forward", "reverse")]
    return [*members, text["to_single_output"].fill(values)] if view_meta.is_list else members


def _replay(view_meta: ViewMeta, plan: ViewMetasPlan, struct: str, called: dict[str, str], text: Sections) -> str:
    """The call of the view, or of its copy. Since 2.15 a view of several outputs makes one of them alone: SpecError for
    a function for which upstream does not say how."""
    single = f"replay_{view_meta.name.removesuffix('_ViewMeta')}"
    if single in text:
        return text[single].fill(called)
    if view_meta.is_list and _SINGLE[0] in text:
        hint = "torchgen knows it only for split.Tensor, split_with_sizes and unbind.int"
        raise SpecError(f"how '{plan.struct}' makes a single one of its views is not known", hint, field=("func",))
    index = f"[{_INDEX.name}]" if view_meta.is_list else ""
    return text["replay"].fill({"struct": struct, "arguments": ["base", *plan.arguments], "index": index})
