"""The functions that a backend has text for: those that its file lists, and the variants that wrap them.

torchgen: `gen_backend_stubs.parse_backend_yaml`, `gen.get_grouped_native_functions`,
`model.NativeFunctionsGroup.from_dict`, `model.gets_generated_out_inplace_wrapper`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gradmill.grammar.names import parse_operator_name, unambiguous_name
from gradmill.model.backends import DEFINE_META, OPTIONS, STRUCTURED, UNGUARDED, Backend, Item, Member, Roles
from gradmill.model.native import FunctionSummary
from gradmill.problems.problem import Problem, Role, SpecError, nearest
from gradmill.releases.model import Release
from gradmill.rules.native.groups import complete_groups

IGNORED = "ignored-operator"  # a rule
_NONE = Roles(())
_NEAR = 0.7  # difflib's least ratio of a suggested key: keys are short, and NPU is not meant to be XPU

Listed = tuple[str, FunctionSummary]  # a function's identity and head


class Clash(Struct, frozen=True):
    """An operator with a kernel for autograd whose variant, or itself, has one for the backend."""

    autograd: str
    kernel: str


def members_of(heads: Sequence[Listed], roles: Mapping[str, Roles], backend: Backend) -> list[Member]:
    """The functions of a bucket that the backend has text for, group by group."""
    first: dict[str, str] = {}
    for name, head in heads:
        first.setdefault(head.signature, name)
    found = []
    for group in groups_of(heads):
        functional = group[0] if len(group) > 1 else None
        structured = has_structured_kernel(group, roles)
        for each in group:
            member = _of_class(each, group, roles, backend) if structured else _member(each, functional, roles, backend)
            if member is not None:
                found.append(replace(member, first=first[group[0][1].signature]))
    return found


def clashes(heads: Sequence[Listed], roles: Mapping[str, Roles]) -> list[Clash]:
    """The operators that have kernels for the backend and for autograd, which upstream refuses."""
    found = []
    for group in groups_of(heads):
        names = [head.name for _, head in group]
        kernel = next((name for name in names if roles.get(name, _NONE).kernel), "")
        autograd = next((name for name in names if roles.get(name, _NONE).autograd), "")
        if kernel and autograd:
            found.append(Clash(autograd, kernel))
    return found


def groups_of(heads: Sequence[Listed]) -> list[list[Listed]]:
    """Functions by operator, the functional variant first; single functions where it has no out variant."""
    return [[heads[i] for i in group] for group in complete_groups([head for _, head in heads])]


def has_structured_kernel(group: Sequence[Listed], roles: Mapping[str, Roles]) -> bool:
    """Whether a group is implemented by the structured kernel of its out variant."""
    return len(group) > 1 and group[1][1].structured and STRUCTURED in roles.get(group[1][1].name, _NONE).listed


def _of_class(each: Listed, group: Sequence[Listed], roles: Mapping[str, Roles], backend: Backend) -> Member:
    """A variant of a group with a structured kernel. Its class is named as the operator, not as the function in C++,
    which overloads share."""
    (functional, head), (out, primary) = group[:2]
    own, kernel = roles[primary.name], ""
    if each[0] == out:
        kernel = f"structured_{unambiguous_name(parse_operator_name(primary.name))}{'_symint' if own.symint else ''}"
    member = Member(each[0], head.unqualified, functional, backend.key, kernel, out=out)
    guarded, defines_meta = UNGUARDED not in own.listed, DEFINE_META in own.listed
    return replace(member, guarded=guarded, defines_meta=defines_meta, symint=own.symint)


def _member(each: Listed, functional: Listed | None, roles: Mapping[str, Roles], backend: Backend) -> Member | None:
    name, head = each
    own, order = roles.get(head.name, _NONE), (functional or each)[1].unqualified
    keys = {True: backend.key, False: backend.autograd_key}
    if own.kernel or own.autograd:
        kernel = head.cpp_name + ("_symint" if own.symint else "")
        member = Member(name, order, key=keys[own.kernel], kernel=kernel, traced=own.traced, has_node=own.has_node)
        return replace(member, guarded=UNGUARDED not in own.listed)
    wrapped = _NONE if functional is None or functional == each else roles.get(functional[1].name, _NONE)
    if functional is not None and (wrapped.kernel or wrapped.autograd) and not backend.out_as_primary:
        return Member(name, order, functional[0], keys[wrapped.kernel], has_node=own.has_node)
    return Member(name, order, has_node=True) if own.has_node else None


def check_keys(backend: Backend, release: Release, taken: Collection[str]) -> None:
    """Raises a SpecError unless the backend's key, and autograd's, may have kernels that no entry names. `taken`: the
    keys that entries have kernels for."""
    key = backend.key
    if backend.kernels and key not in release.dispatch_keys:
        near = nearest(key, sorted(release.dispatch_keys - release.kernel_keys), near=_NEAR)
        hint = near or "write PrivateUse1, the key of backends outside of PyTorch"
        raise SpecError(f"unknown dispatch key '{key}'", hint)
    if backend.kernels and key in taken:
        problem = f"the kernels of '{key}' are in native_functions.yaml"
        raise SpecError(problem, "name a key that has none there, as Lazy, XLA or PrivateUse1")
    if backend.autograd and backend.autograd_key not in release.dispatch_keys:
        raise SpecError(f"'{key}' has no key for autograd, '{backend.autograd_key}'", "leave out autograd")


def problem_of_item(
    role: Role, item: Item, known: set[str], own: dict[str, Roles], seen: set[tuple[str, str]]
) -> Problem | None:
    """The problem of an item; None if it is right. What upstream ignores is a warning."""
    if item.listed in OPTIONS:  # reported with its operator, or its group
        return None
    if item.name not in known:
        ignored = item.listed in ("symint", "ir_gen")
        hint = nearest(item.name, sorted(known)) or "an overload is a part of the name, as in add.Tensor"
        also = ": torchgen ignores it" if ignored else ""
        problem = f"no function is called '{item.name}'{also}"
        return Problem(role, "", "", problem, hint, warning=ignored, rule=IGNORED if ignored else "")
    if (item.name, item.listed) in seen:
        problem = f"'{item.name}' is twice in {item.listed}"
        return Problem(role, "", "", problem, "remove one", warning=True, rule="listed-twice")
    lists = own[item.name]
    if item.listed == "symint" and not (lists.kernel or lists.autograd):
        problem = f"'{item.name}' has no kernel: torchgen ignores it here"
        return Problem(role, "", "", problem, "list it in supported, too", warning=True, rule=IGNORED)
    return None


def structured_errors(heads: Sequence[Listed], roles: Mapping[str, Roles]) -> list[tuple[str, SpecError]]:
    """The errors of operators that the backend's file has structured kernels for, each with the operator. Upstream has
    none for backends outside of ATen."""
    return [each for group in groups_of(heads) for each in _errors(group, roles)]


def _errors(group: Sequence[Listed], roles: Mapping[str, Roles]) -> Iterator[tuple[str, SpecError]]:
    for _, head in group:
        if STRUCTURED in roles.get(head.name, _NONE).listed and not head.structured:
            yield head.name, _not_structured(head)
    if not has_structured_kernel(group, roles):
        return
    (_, out), others = group[1], (group[0], *group[2:])
    for _, head in others:
        if roles.get(head.name, _NONE).kernel:
            problem = f"'{head.name}' has a kernel, and the structured one of '{out.name}' implements it"
            yield out.name, SpecError(problem, f"remove '{head.name}', or structured")


def _not_structured(head: FunctionSummary) -> SpecError:
    if head.delegate is not None:
        problem = f"'{head.name}' is not the structured variant: it delegates to '{head.delegate}'"
        return SpecError(problem, f"write - {head.delegate}: {{structured: true}}")
    problem = f"'{head.name}' has no meta function: native_functions.yaml does not say structured: True"
    return SpecError(problem, f"write - {head.name}, whose kernel is a function")
