"""The plan of a view's ViewMetas: all facts that their text needs.

A ViewMeta replays a view in functionalization. A view has a class, and so has its in-place variant; both call the view.

torchgen: `gen_functionalization_type.ViewMetaSpecialization`, `functionalization.op_arguments`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.bindings import passing_of
from gradmill.cpp.dispatcher import Parameter
from gradmill.cpp.types import OWNED_LISTS, CppType, argument_type
from gradmill.cpp.view_metas import check_base, makes_several, view_meta
from gradmill.grammar.names import unambiguous_name
from gradmill.model.native import NativeFunction
from gradmill.model.views import ViewGroup
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release


class ViewMeta(Struct, frozen=True, gc=False, array_like=True):
    """One class. Parameters and members are those that differ between classes."""

    name: str
    parameters: tuple[Parameter, ...]
    members: tuple[Parameter, ...]  # of the same names: a list that is passed by reference is copied
    is_list: bool  # whether the function returns several views; the class replays one
    is_as_strided: bool


class ViewMetasPlan(Struct, frozen=True, gc=False, array_like=True):
    """The classes of a view. There are none if no ViewMeta replays it."""

    bases: tuple[str, ...]  # the base names of the view and its copy
    struct: str  # of `at::_ops`
    copy_struct: str
    arguments: tuple[str, ...]  # of the view and its copy, without the base
    is_list: bool
    classes: tuple[ViewMeta, ...]


def plan(group: ViewGroup, release: Release) -> ViewMetasPlan:
    """The plan of a view. Raises SpecError for a view that no ViewMeta can replay."""
    view, copy = group.view, group.copy
    bases = tuple(each.func.name.base for each in (view, copy) if each is not None)
    struct = unambiguous_name(view.func.name)
    if not group.replayed:
        return ViewMetasPlan(bases, struct, "", (), is_list=False, classes=())
    if copy is None:
        hint = "ViewMetas call it if views are not to be replayed"
        raise SpecError(f"'{view.func.name}' is a view and has no copy variant", hint, field=("func",))
    own = (view,) if group.inplace is None else (view, group.inplace)
    return ViewMetasPlan(
        bases=bases,
        struct=struct,
        copy_struct=unambiguous_name(copy.func.name),
        arguments=tuple(a.name for a in copy.func.arguments[1:]),
        is_list=makes_several(copy.func),
        classes=tuple(_class(each, release) for each in own),
    )


def _class(function: NativeFunction, release: Release) -> ViewMeta:
    schema, how = function.func, passing_of(function, release, symint=True)
    check_base(schema)
    types = {a: argument_type(a.type, how, mutable=a.is_write) for a in schema.arguments[1:]}
    return ViewMeta(
        name=view_meta(str(schema.name)),
        parameters=tuple(Parameter(a.name, type_.passed) for a, type_ in types.items()),
        members=tuple(Parameter(a.name, _member(a.type, type_, release)) for a, type_ in types.items()),
        is_list=makes_several(schema),
        is_as_strided=str(schema.name) == "as_strided",
    )


def _member(type_: str, cpp: CppType, release: Release) -> str:
    """The C++ type of a member: of a list of integers a copy, and since 2.14 of a tensor and a scalar."""
    copied = type_ in release.copied_in_views and cpp.passed.startswith("const ")
    return OWNED_LISTS.get(cpp.passed) or (cpp.value if copied else cpp.passed)
