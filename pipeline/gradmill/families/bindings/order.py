"""The overloads of a binding, grouped and in the order in which the parser of arguments tries them.

A function and its out variant share a signature, with `out=` optional. A number may be passed for a tensor and the
reverse, so an overload that would accept what another one is meant for is tried after that one.

torchgen: `gen_python_functions.group_overloads`, `gen_python_functions.sort_overloads`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager

from msgspec import Struct
from msgspec.structs import replace

from gradmill.families.bindings.signature import PythonSignature, signature_of
from gradmill.model.bindings import Binding, Overload
from gradmill.problems.problem import SpecError, all_of
from gradmill.releases.model import Release

Types = tuple[str, ...]  # of the arguments of a signature


class SignatureGroup(Struct, frozen=True):
    """A signature and what it calls: a function, and its out variant if it has one."""

    signature: PythonSignature
    text: str
    base: Overload
    out: Overload | None


def operator(overload: Overload) -> str:
    """The name of an overload, or of its deprecated form, as in the spec files."""
    return str(overload.function.func.name if overload.form is None else overload.form.schema.name)


def blame(error: SpecError, overload: Overload) -> None:
    """Sets the place of an error to the entry of an overload."""
    form = overload.form
    error.role = "native" if form is None else "deprecated"
    error.entry = overload.form_entry or overload.entry
    error.op = operator(overload)
    error.field = error.field or ("func" if form is None else "name",)


@contextmanager
def blamed(overload: Overload) -> Iterator[None]:
    """Adds the entry of an overload to an error."""
    try:
        yield
    except SpecError as error:
        blame(error, overload)
        raise


def groups(binding: Binding, release: Release) -> list[SignatureGroup]:
    """The groups of a binding, in the order of parsing. SpecError as `grouped`, and if some take precedence over one
    another."""
    return _ordered(grouped(binding, release))


def grouped(binding: Binding, release: Release) -> list[SignatureGroup]:
    """The groups of a binding, sorted by signature. SpecError if two overloads have the same."""
    method = binding.module == "Tensor"
    bases: dict[str, tuple[PythonSignature, Overload]] = {}
    outs: dict[str, tuple[PythonSignature, Overload]] = {}
    for overload in binding.overloads:
        with blamed(overload):
            signature = signature_of(overload, release, method=method)
            text = signature.text(out=False)
            signature.text()
            of_kind = outs if overload.function.func.out else bases
            if text in of_kind:
                other = of_kind[text][1]
                problem = f"its Python signature {text} is that of '{other.function.func.name}' too"
                raise SpecError(problem, "change an argument, or remove one of them")
            of_kind[text] = signature, overload
    for text, (_, overload) in outs.items():
        if text not in bases:
            with blamed(overload):
                raise SpecError(f"no variant without `out` has the Python signature {text}", _near(bases))
    found = [_group(*bases[text], outs.get(text)) for text in bases]
    return sorted(found, key=lambda group: group.text)


def _group(signature: PythonSignature, base: Overload, out: tuple[PythonSignature, Overload] | None) -> SignatureGroup:
    """A group with the signature of the out variant if there is one, and with the options of the other."""
    if out is None:
        return SignatureGroup(signature, signature.text(), base, None)
    whole = replace(out[0], options=signature.options)
    return SignatureGroup(whole, whole.text(), base, out[1])


def _near(bases: dict[str, tuple[PythonSignature, Overload]]) -> str:
    listed = [text for text, (signature, _) in bases.items() if not signature.deprecated]
    return f"those without: {'; '.join(listed)}" if listed else "add one"


def _ordered(listed: Sequence[SignatureGroup]) -> list[SignatureGroup]:
    """The groups so that each follows those that take precedence over it. SpecError for a cycle."""
    types = [tuple(each.type for each in group.signature.inputs) for group in listed]
    order, rest = in_precedence(types)
    if rest:
        waiting = {i: {j for j in rest if yields(types[i], types[j])} for i in rest}
        raise _cycle([listed[i] for i in _circle(waiting)])
    return [listed[i] for i in order]


def in_precedence(signatures: Sequence[Types]) -> tuple[list[int], list[int]]:
    """The places of signatures so that each follows those that take precedence over it (sort_overloads); and of those
    that wait for one another."""
    places: dict[Types, list[int]] = {}
    for at, types in enumerate(signatures):
        places.setdefault(types, []).append(at)
    by_length: dict[int, list[Types]] = {}
    for types in places:
        by_length.setdefault(len(types), []).append(types)
    followers: dict[Types, list[Types]] = {types: [] for types in places}
    waits = dict.fromkeys(places, 0)
    for one in places:
        for other in (each for each in by_length[len(one)] if yields(one, each)):
            followers[other].append(one)
            waits[one] += len(places[other])
    order = [at for at, types in enumerate(signatures) if not waits[types]]
    for at in order:  # grows
        freed: list[int] = []
        for types in followers[signatures[at]]:
            waits[types] -= 1
            freed += places[types] if not waits[types] else []
        order += sorted(freed)
    return order, [at for at, types in enumerate(signatures) if waits[types]]


def _circle(waiting: Mapping[int, Set[int]]) -> list[int]:
    """Some of those that wait, each for the next one, and the last for the first."""
    path: list[int] = []
    at = min(waiting)
    while at not in path:
        path.append(at)
        at = min(waiting[at])
    return path[path.index(at) :]


def _cycle(circle: Sequence[SignatureGroup]) -> SpecError:
    """Errors for groups of which each must follow the next one, and the last the first: one in each entry."""
    names = [operator(group.base) for group in circle]
    rules = ", and ".join(f"'{one}' must follow '{other}'" for one, other in zip(names, names[1:] + names[:1]))
    return all_of([_unordered(group.base, rules) for group in circle])


def _unordered(overload: Overload, rules: str) -> SpecError:
    problem = f"Python has no order in which to try its overloads: {rules}"
    error = SpecError(problem, "give one of them another name, or another number of arguments")
    blame(error, overload)
    return error


def yields(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether an overload with other types of arguments takes precedence."""
    if len(one) != len(other) or one == other:
        return False
    return all(a == b or _type_yields(a, b) for a, b in zip(one, other))


_YIELDS = {
    "Scalar": ("Tensor",),
    "Scalar?": ("Tensor?",),
    "int[]": ("int", "int?"),
    "SymInt[]": ("int[]",),
    "SymInt": ("Tensor",),
    "int": ("Tensor",),
}


def _type_yields(one: str, other: str) -> bool:
    return (
        other in _YIELDS.get(one, ())
        or (one == "Tensor[]" and "[]" in other)
        or ("Dimname" in one and "Dimname" not in other)
    )
