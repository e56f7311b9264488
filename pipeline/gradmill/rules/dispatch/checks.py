"""Rules that ATen's own code depends on and autograd's does not: which variants form a group, which kernels they may
have.

torchgen: `gen.get_grouped_native_functions`, `model.NativeFunctionsGroup.__post_init__`,
`model.NativeFunctionsGroup.from_dict`, `gen.get_ns_grouped_kernels`, `signatures.kernel_signature`,
`register_dispatch_key.RegisterDispatchKey.gen_structured`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gradmill.model.native import FunctionSummary, NativeFunction
from gradmill.model.schema import SchemaKind, has_symint
from gradmill.releases.model import Release
from gradmill.rules.dispatch.groups import MADE
from gradmill.rules.native.dispatch import IMPLICIT, IMPLICIT_NESTED
from gradmill.rules.native.groups import IN_GROUPS, GroupError, group_variants

Members = Mapping[SchemaKind, tuple[int, NativeFunction]]  # by kind, each with its place


def check_aten(
    heads: Sequence[FunctionSummary],
    functions: Sequence[NativeFunction],
    release: Release,
    *,
    kernels: bool,
    headers: bool,
) -> list[GroupError]:
    """The first error of each group of variants. `heads`: those of the functions, in the same order. `kernels`: whether
    files declare or register kernels; `headers`: whether headers declare them."""
    groups = ({kind: (i, functions[i]) for kind, i in group.items()} for group in group_variants(heads)[0])
    errors = (next(_errors(group, release, kernels=kernels, headers=headers), None) for group in groups)
    return [error for error in errors if error is not None]


def _errors(group: Members, release: Release, *, kernels: bool, headers: bool) -> Iterator[GroupError]:
    if len(group) > 1:
        yield from _incomplete(group)
    if len(group) > 1 and "out" in group:
        whole = {kind: group[kind] for kind in IN_GROUPS if kind in group}
        yield from _unlike(whole)
        yield from _autogen(whole)
        primary = [whole["out"]]
        if whole["out"][1].structured:
            yield from _structured(whole)
            yield from _structured_kernels(whole) if kernels else ()
    else:
        yield from (_alone(*each) for each in group.values() if "generated" in each[1].tags)
        primary = list(group.values())
    for each in primary if headers else ():
        yield from _namespaces(*each, release)
    yield from _symint(group, release) if kernels else ()


def _incomplete(group: Members) -> Iterator[GroupError]:
    i, first = next(iter(group.values()))
    if "functional" not in group:
        problem = f"'{first.func.name}' has variants, and none of them is functional"
        yield GroupError(i, problem, "add one that writes to no argument")
    for i, other in (each for kind, each in group.items() if kind not in IN_GROUPS):
        problem = f"'{other.func.name}' has scratch arguments: it cannot be a variant of '{first.func.name}'"
        yield GroupError(i, problem, "rename the arguments, or the operator")


def _unlike(group: Members) -> Iterator[GroupError]:
    """Errors for members that do not go with the functional and the out variant."""
    functional, out = group["functional"][1], group["out"][1]
    for i, member in group.values():
        name = member.func.name
        if member.part_of_structured_group != out.structured:
            plain, other = (out, member) if member.part_of_structured_group else (member, out)
            problem = f"'{other.func.name}' is structured, or delegates to it; its variant '{plain.func.name}' does not"
            hint = f"add structured_delegate: {out.func.name}" if out.structured else "drop it, or add structured: True"
            yield GroupError(i, problem, hint)
        if member.namespace != functional.namespace:
            problem = f"'{name}' is in namespace '{member.namespace}', its variant in '{functional.namespace}'"
            yield GroupError(i, problem, "declare variants in one namespace")
    if "mutable" in group and not functional.func.name.functional:
        mutable = group["mutable"][1].func.name
        problem = f"'{functional.func.name}' is the functional variant of '{mutable}', but not named so"
        yield GroupError(group["functional"][0], problem, f"name it {mutable.base}_functional")


def _autogen(group: Members) -> Iterator[GroupError]:
    """Errors for a group with other generated functions than `autogen` names."""
    members = [member for _, member in group.values()]
    made = sorted(str(member.func.name) for member in members if "generated" in member.tags)
    named = sorted({name for member in members for name in member.autogen})
    if made == named:
        return
    declared = [(i, member) for i, member in group.values() if member.generated_from is None]
    for i, member in declared:
        if "generated" in member.tags:
            problem = f"'{member.func.name}' is tagged generated, and it is declared"
            yield GroupError(i, problem, "drop the tag", field=("tags",))
    asking = [i for i, member in declared if member.autogen]
    problem = f"autogen names {', '.join(named) or 'nothing'}, but {', '.join(made) or 'nothing'} is generated"
    hint = f"write autogen: {', '.join(made)}" if made else "drop it"
    yield GroupError((asking or [i for i, _ in declared])[0], problem, hint, field=("autogen" if asking else "func",))


def _alone(i: int, function: NativeFunction) -> GroupError:
    problem = f"'{function.func.name}' is tagged generated, and has no functional and out variant"
    return GroupError(i, problem, "drop the tag", field=("tags",))


def _structured(group: Members) -> Iterator[GroupError]:
    """Errors for a group with a structured out variant."""
    out = group["out"][1]
    for i, member in group.values():
        delegate = member.structured_delegate
        if delegate is not None and delegate != str(out.func.name) and (i, member) != group.get("mutable"):
            problem = f"'{member.func.name}' delegates to '{delegate}', but its out variant is '{out.func.name}'"
            yield GroupError(i, problem, f"write {out.func.name}", field=("structured_delegate",))
    for key in (IMPLICIT, IMPLICIT_NESTED):
        if key in out.dispatch:
            yield _implied(group, key, "a composite cannot be structured")


def _structured_kernels(group: Members) -> Iterator[GroupError]:
    """Errors for kernels of a group with a structured out variant."""
    for i, member in group.values():
        if member.func.options_index is not None:
            yield GroupError(i, "a structured kernel cannot take tensor options", "pass what they are taken from")
        if member.manual_kernel_registration:
            field = ("manual_kernel_registration",)
            yield GroupError(i, "the kernels of a structured function are registered", "drop the key", field=field)
    for key in MADE:
        if key in group["out"][1].dispatch:
            yield _implied(group, key, "its kernel is generated")


def _implied(group: Members, key: str, why: str) -> GroupError:
    problem = f"a structured function has a kernel for {key}: {why}"
    return GroupError(group["out"][0], problem, "drop the row", field=("dispatch",))


def _namespaces(i: int, function: NativeFunction, release: Release) -> Iterator[GroupError]:
    absent = release.absent_keys
    names = sorted({kernel.namespace for key, kernel in function.dispatch.items() if key not in absent})
    if len(names) > 1:
        problem = f"kernels of '{function.func.name}' are in several namespaces: {', '.join(names)}"
        yield GroupError(i, problem, "put them into one", field=("dispatch",))


def _symint(group: Members, release: Release) -> Iterator[GroupError]:
    """Errors for kernels whose names say that they take SymInt, of functions that do not."""
    out = group["out"][1] if "functional" in group and "out" in group else None
    for i, function in group.values():
        for key, kernel in function.dispatch.items() if not has_symint(function.func) else ():
            of_class = out is not None and key in out.dispatch and out.dispatch[key].structured
            if kernel.supports_symint and not of_class and key not in release.absent_keys:
                problem = f"kernel '{kernel.name}' takes SymInt by its name, but the function has no such argument"
                hint = "drop _symint from the name, or make an argument SymInt"
                yield GroupError(i, problem, hint, field=("dispatch",))
