"""What a group of variants declares in the headers of all kernels: what no group before it does.

torchgen: `gen.get_native_function_declarations`, `gen.get_namespaced_declaration`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gradmill.cpp.bindings import cpp_name
from gradmill.families.aggregated_headers import piece_in
from gradmill.families.kernel_headers import META, NAMESPACE
from gradmill.families.kernel_headers.declared import (
    Declaration,
    check_namespace,
    functions_by_key,
    kernels_by_namespace,
)
from gradmill.families.kernel_headers.text import kernel_text, meta_text
from gradmill.model.native import DeclaredKernels, NativeFunction
from gradmill.releases.model import Release
from gradmill.rules.dispatch.groups import Group


def render(subject: DeclaredKernels, release: Release) -> dict[str, str]:
    """The pieces by name. SpecError for a type or a default without C++."""
    group = Group(subject.groups[subject.own])
    pieces = {META: meta_text(group, release) if group.structured else ""}
    for namespace, kernels in _kernels(subject, release).items():
        pieces[piece_in("", namespace)] = "\n".join(kernel_text(*each, release) for each in kernels)
    for (key, namespace), declarations in _functions(subject, release).items():
        pieces[piece_in(key, namespace)] = "\n".join(declarations)
    return pieces


def _kernels(subject: DeclaredKernels, release: Release) -> dict[str, list[tuple[str, Declaration]]]:
    """The kernels that the group is the first to declare, by namespace. Their macros may be those of a later group."""
    before, own, after = _related(subject, lambda function: {each.name for each in function.dispatch.values()})
    keys = subject.keys
    declared = kernels_by_namespace([own], keys, release)
    earlier = kernels_by_namespace(before, keys, release) if before else {}
    merged = kernels_by_namespace([own, *after], keys, release) if after and release.merges_macros else declared
    new = {
        name: [(merged[name][same], same[1]) for same in listed if same not in earlier.get(name, {})]
        for name, listed in declared.items()
    }
    return {name: listed for name, listed in new.items() if listed}


def _functions(subject: DeclaredKernels, release: Release) -> dict[tuple[str, str], list[str]]:
    """The functions for keys that the group is the first to declare, by key and the namespace of its kernel."""
    before, own, _ = _related(subject, _parameters)
    earlier = {row for group in before for row in _rows(group, subject.keys, release)}
    by_place: dict[tuple[str, str], list[str]] = {}
    for key, namespace, declaration in dict.fromkeys(_rows(own, subject.keys, release)):
        if (key, namespace, declaration) not in earlier:
            by_place.setdefault((key, namespace), []).append(declaration)
    return by_place


def _rows(group: Group, keys: tuple[str, ...], release: Release) -> Iterator[tuple[str, str, str]]:
    """The functions of a group for keys, each with its key and the namespace of the key's kernel."""
    for key, declarations in functions_by_key([group], keys, release).items():
        check_namespace(group, key)
        kernel = group.kernel(key)
        yield from ((key, NAMESPACE if kernel is None else kernel.namespace, each) for each in declarations)


def _parameters(function: NativeFunction) -> set[str]:
    """What functions have in common that may be declared by the same text."""
    return {" ".join([cpp_name(function.func), *sorted(each.name for each in function.func.arguments)])}


def _related(
    subject: DeclaredKernels, traits: Callable[[NativeFunction], Iterable[str]]
) -> tuple[list[Group], Group, list[Group]]:
    """The group, with those before and after it that have a trait of it."""

    def of(group: tuple[NativeFunction, ...]) -> set[str]:
        return {trait for function in group for trait in traits(function)}

    groups, at = subject.groups, subject.own
    own = of(groups[at])
    before, after = ([Group(each) for each in part if of(each) & own] for part in (groups[:at], groups[at + 1 :]))
    return before, Group(groups[at]), after
