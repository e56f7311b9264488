"""Which operators of a backend may have structured kernels.

Upstream has none for backends outside of ATen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pipeline.model.backends import Roles
from pipeline.model.native import FunctionHead
from pipeline.problems.problem import SpecError
from pipeline.rules.backends.members import Listed, groups_of, has_structured_kernel

_NONE = Roles(())


def structured_errors(heads: Sequence[Listed], roles: Mapping[str, Roles]) -> list[tuple[str, SpecError]]:
    """The errors of operators that the backend's file has structured kernels for, each with the operator."""
    return [each for group in groups_of(heads) for each in _errors(group, roles)]


def _errors(group: Sequence[Listed], roles: Mapping[str, Roles]) -> Iterator[tuple[str, SpecError]]:
    for _, head in group:
        if roles.get(head.name, _NONE).structured and not head.structured:
            yield head.name, _not_structured(head)
    if not has_structured_kernel(group, roles):
        return
    (_, out), others = group[1], (group[0], *group[2:])
    if roles[out.name].symint:
        problem = f"'{out.name}' is structured: its kernel takes int64_t"
        yield out.name, SpecError(problem, "remove it from symint")
    for _, head in others:
        if roles.get(head.name, _NONE).kernel:
            problem = f"'{head.name}' has a kernel, and the structured one of '{out.name}' implements it"
            yield out.name, SpecError(problem, f"remove '{head.name}', or structured")


def _not_structured(head: FunctionHead) -> SpecError:
    if head.delegate is not None:
        problem = f"'{head.name}' is not the structured variant: it delegates to '{head.delegate}'"
        return SpecError(problem, f"write - {head.delegate}: {{structured: true}}")
    problem = f"'{head.name}' has no meta function: native_functions.yaml does not say structured: True"
    return SpecError(problem, f"write - {head.name}, whose kernel is a function")
