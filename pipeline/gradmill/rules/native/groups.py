"""Groups of native functions: the variants of one operator, and views with their copies.

`missing_variants` completes the variants, `view_groups` pairs views.

torchgen: `native_function_generation.pre_group_native_functions`,
`native_function_generation.add_generated_native_functions`, `gen.get_grouped_native_functions`,
`gen.get_grouped_by_view_native_functions`, `model.NativeFunctionsViewGroup`, `model.gets_generated_view_copy`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from gradmill.grammar.signature import view_signature
from gradmill.model.native import FunctionSummary
from gradmill.model.schema import SchemaKind
from gradmill.problems.problem import SpecError, nearest
from gradmill.releases.elsewhere import dated
from gradmill.releases.model import Release

Variants = dict[SchemaKind, int]  # kind -> index of the function
IN_GROUPS: tuple[SchemaKind, ...] = ("functional", "out", "inplace", "mutable")


class GroupError(SpecError):
    """An error in the function with index `function`; `other` is the index of a related one, and a piece of it."""

    def __init__(
        self,
        function: int,
        problem: str,
        hint: str = "",
        *,
        field: tuple[str, ...] = ("func",),
        needle: str = "",
        rule: str = "",
        other: tuple[int, str] | None = None,
    ) -> None:
        super().__init__(problem, hint, field=field, needle=needle, rule=rule)
        self.function = function
        self.other = other


class LacksVariant(GroupError):
    """The error for a function without a variant that it needs. There may be one with other arguments."""


class ToGenerate(Struct, frozen=True):
    """One function to generate: the variant `kind`, from the function with index `base`."""

    base: int
    kind: SchemaKind


def group_variants(heads: Sequence[FunctionSummary]) -> tuple[list[Variants], list[GroupError]]:
    """Functions by signature, in order of first appearance, and errors for a second one of a kind."""
    groups: dict[str, Variants] = {}
    errors = []
    for i, head in enumerate(heads):
        group = groups.setdefault(head.signature, {})
        if head.kind in group:
            first = group[head.kind]
            problem = f"a second {head.kind} variant of one operator; the first is {heads[first].schema}"
            errors.append(GroupError(i, problem, other=(first, "")))
        group[head.kind] = i
    return list(groups.values()), errors


def complete_groups(heads: Sequence[FunctionSummary]) -> list[tuple[int, ...]]:
    """The functions by group, in order of first appearance: the functional, out, in-place and mutable variant of those
    that have the first two. Other functions are alone."""
    groups: list[tuple[int, ...]] = []
    for group in group_variants(heads)[0]:
        if "functional" in group and "out" in group:
            groups.append(tuple(group[kind] for kind in IN_GROUPS if kind in group))
        else:
            groups += [(i,) for i in group.values()]
    return groups


def missing_variants(group: Variants, heads: Sequence[FunctionSummary], release: Release) -> list[ToGenerate]:
    """The variants that upstream generates for `group`, in upstream's order. Raises a GroupError if it cannot."""
    if "functional" in group and ("out" in group or (len(group) == 1 and _is_alone(heads[group["functional"]]))):
        return []
    base_kind = next((kind for kind in release.variants_from if kind in group), None)
    if base_kind is None or not _generates([heads[i] for i in group.values()], release):
        return []
    if "out" in group and len(group) == 1:
        name = heads[group["out"]].name
        if name in release.out_without_functional:
            return []
        raise LacksVariant(group["out"], f"out op '{name}' has no other variant", "add its functional variant")
    if "inplace" in group and heads[group["inplace"]].name in release.inplace_ungrouped:
        return []
    index = group[base_kind]
    base = heads[index]
    can_out = base_kind == "inplace" or base.returns_tensors
    if "out" not in group and not can_out:
        _check_needs_no_out(base, index, release)
    wanted = [ToGenerate(index, "out")] if "out" not in group and can_out and base.autogen_out else []
    if wanted and base_kind != "inplace" and base.returns_what_it_writes:
        problem = f"no out variant can be generated of '{base.name}': it returns an argument that it writes to"
        raise GroupError(index, problem, "drop it from the returns, or end the op's name with an underscore")
    if "functional" not in group and ("out" in group or wanted):
        wanted.append(ToGenerate(index, "functional"))
    return wanted


def ignored_autogen(
    group: Variants, wanted: Sequence[ToGenerate], heads: Sequence[FunctionSummary], release: Release
) -> list[GroupError]:
    """Errors for functions with an out variant in `autogen` that upstream silently does not generate."""
    if "out" in group or any(each.kind == "out" for each in wanted):
        return []
    members = {kind: heads[i] for kind, i in group.items()}
    asking = [(group[kind], head) for kind, head in members.items() if head.autogen_out and not head.implicit]
    base = next((members[kind] for kind in release.variants_from if kind in members), None)
    errors = []
    for i, head in asking:
        view = next((each.name for each in members.values() if each.is_view), "")
        if view:
            problem = f"it is ignored: no variants are generated where '{view}' is a view"
            errors.append(GroupError(i, problem, "drop it", field=("autogen",), rule="ignored-autogen"))
        elif base is not None and base is not head:
            problem = f"it is ignored: variants are generated from '{base.name}'"
            errors.append(GroupError(i, problem, "move it to that entry", field=("autogen",), rule="ignored-autogen"))
    return errors


def _is_alone(head: FunctionSummary) -> bool:
    """Whether a functional op without variants could have an out variant, and has none generated."""
    return head.returns_tensors and not head.autogen_out


def _generates(members: Sequence[FunctionSummary], release: Release) -> bool:
    if all(m.manual_cpp_binding for m in members):
        return False
    if any(m.is_view and m.unqualified != "set_" for m in members):
        return False
    core = release.core_generates and any(m.core for m in members)
    return core or not all(m.implicit for m in members)


def _check_needs_no_out(head: FunctionSummary, index: int, release: Release) -> None:
    name = head.name

    def accepts(one: Release) -> bool:
        return name in one.mutable_without_out or name in one.functional_without_out

    if not accepts(release):
        problem = f"no out variant can be generated of '{name}': it returns no tensor"
        hint = "PyTorch knows such ops by name (FUNCTIONAL_OPS_THAT_CANNOT_GET_AN_OUT_VARIANT)"
        error = GroupError(index, problem, hint)
        raise dated(error, accepts)


class ViewIndices(Struct, frozen=True):
    """Indices of the functions with one view signature; `rest` are those outside of the view triple."""

    view: int | None
    inplace: int | None
    copy: int | None
    rest: tuple[int, ...]

    @property
    def members(self) -> tuple[int, ...]:
        """In upstream's order: view, in-place view, copy, the others."""
        return tuple(i for i in (self.view, self.inplace, self.copy) if i is not None) + self.rest


def view_groups(heads: Sequence[FunctionSummary]) -> tuple[list[ViewIndices], list[GroupError]]:
    """Functions by view signature, in order of first appearance, and errors for a second one of a kind."""
    groups: dict[str, dict[str, int]] = {}
    errors = []
    for i, head in enumerate(heads):
        group = groups.setdefault(view_signature(head.base, head.signature), {})
        kind = head.kind if head.view_kind == "non_aliasing" else head.view_kind
        if kind in group:
            problem = f"a second {kind} op under one view signature; the first is {heads[group[kind]].schema}"
            errors.append(GroupError(i, problem, other=(group[kind], "")))
            group[f"an earlier {kind}, {group[kind]}"] = group[kind]  # a definition may still refer to it
        group[kind] = i
    return [_view_group(group) for group in groups.values()], errors


def _view_group(group: dict[str, int]) -> ViewIndices:
    if "aliasing" not in group:
        return ViewIndices(None, None, None, tuple(group.values()))
    view = group.pop("aliasing")
    inplace = group.pop("aliasing_inplace", None)
    return ViewIndices(view, inplace, group.pop("functional", None), tuple(group.values()))


def untagged(group: ViewIndices, heads: Sequence[FunctionSummary]) -> list[GroupError]:
    """Errors for in-place variants of a view without the tag of views: upstream treats them as changing values."""
    if group.view is None:
        return []
    view = heads[group.view]
    errors = []
    for i in group.rest:
        if heads[i].kind == "inplace" and heads[i].signature == view.signature:
            problem = f"'{heads[i].name}' is the in-place variant of the view '{view.name}' but is not tagged so"
            errors.append(GroupError(i, problem, "add tags: inplace_view", rule="untagged-view"))
    return errors


def check_view_group(group: ViewIndices, heads: Sequence[FunctionSummary]) -> None:
    """Checks that a view has the copy that it needs, named and tagged as such, and that its variants agree.

    Raises a GroupError.
    """
    if group.view is None:
        return
    view = heads[group.view]
    needs_copy = not (view.implicit or view.inplace_view or view.base.endswith("_inverse"))
    if (needs_copy or group.copy is not None) and view_signature(view.base, view.signature) != view.signature:
        raise GroupError(group.view, f"'{view.name}' is a view, but named as the copy of one", "rename it")
    if group.copy is not None:
        _check_copy(group.copy, view, heads[group.copy])
    elif needs_copy:
        copy = f"{view.base}_copy{view.name.removeprefix(view.unqualified)}"
        raise LacksVariant(
            group.view, f"'{view.name}' is a view and has no copy variant", f"add {copy}, tagged view_copy"
        )
    if group.inplace is not None:
        _check_inplace_variant(group.inplace, view, heads[group.inplace])


def _check_copy(index: int, view: FunctionSummary, copy: FunctionSummary) -> None:
    if not copy.base.endswith(("_copy", "_scatter")):
        problem = f"'{copy.name}' pairs with the view '{view.name}' but is not named as its copy"
        raise GroupError(index, problem, "end it with _copy")
    if not copy.view_copy:
        raise GroupError(index, f"'{copy.name}' is the copy of a view but is not tagged so", "add tags: view_copy")


def _check_inplace_variant(index: int, view: FunctionSummary, inplace: FunctionSummary) -> None:
    if inplace.signature != view.signature:
        raise GroupError(index, f"the in-place variant does not match its view {view.schema}")
    if (view.implicit and not inplace.implicit) or (view.implicit_nested and not inplace.implicit_nested):
        problem = f"'{inplace.name}' has no composite kernel, but its view '{view.name}' has"
        raise GroupError(index, problem, "give both the same kind of kernel")


def check_functions(heads: Sequence[FunctionSummary], structured: Callable[[], Mapping[str, bool]]) -> list[GroupError]:
    """Errors between entries: delegates must exist and be structured, in-place views must have a view.

    `heads` are those of operators that may be variants of one another. `structured` returns all operators, each with
    whether it is structured; it is called only if needed.
    """
    near = {head.name: head.structured for head in heads}
    bases = {head.unqualified for head in heads}
    errors = []
    for i, head in enumerate(heads):
        try:
            if head.delegate is not None and not near.get(head.delegate):
                _check_delegate(i, head.delegate, structured())
            if head.inplace_view and head.name not in ("resize_", "resize_as_") and head.unqualified != "set_":
                _check_inplace_view(i, head, bases)
        except GroupError as error:
            errors.append(error)
    return errors


def _check_delegate(i: int, delegate: str, structured: Mapping[str, bool]) -> None:
    if structured.get(delegate):
        return
    if delegate not in structured:
        outs = [name for name, is_structured in structured.items() if is_structured]
        hint = nearest(delegate, outs) or "declare it, with structured: True, or correct the name"
        problem = f"structured_delegate '{delegate}' does not exist"
    else:
        problem, hint = f"structured_delegate '{delegate}' is not structured", "add structured: True to it"
    raise GroupError(i, problem, hint, field=("structured_delegate",))


def _check_inplace_view(i: int, head: FunctionSummary, bases: set[str]) -> None:
    if head.kind != "inplace":
        raise GroupError(i, "an op tagged inplace_view is not named in-place", "end its name with an underscore")
    dunder = head.unqualified.startswith("__")
    functional = f"__{head.base}__" if dunder else head.base
    if functional not in bases:
        raise GroupError(i, f"no view op '{functional}' for the in-place view '{head.name}'", f"add '{functional}'")
