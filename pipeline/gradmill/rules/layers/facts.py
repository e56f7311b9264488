"""The changes that a description makes to the facts of a release."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gradmill.problems.problem import SpecError, nearest
from gradmill.releases.model import OWN_KERNEL, PARTS, Change, Release
from gradmill.specs.layers.description import Description

# Facts that no description changes: lists that its other keys make, what libtorch exports, and what ATen's files print.
INTERNAL = frozenset(
    """
    left_out exported_helpers dtype_classes vmap_other_returns not_functionalized keeping_out_dtype
    autocast_full
    optional_backends header_keys omitted_keys static_keys function_macros struct_macros cpu_library_kernels
    guarded_keys class_guards unset_guards empty_headers kernel_shards shim_devices shims_with_optional_returns
    """.split()
)
_WHY = "the description says so"


def changes_of(description: Description, version: str) -> list[Change]:
    """The changes that a description makes to a release's facts; `wrong_facts` reports fields that do not exist."""
    known = set(Release.__struct_fields__)
    changes = [Change(version, "described", _WHY, set=True)]
    for facts in description.facts:
        for field in (*facts.add, *(name for name in facts.remove if name not in facts.add)):
            if field in known:
                members = facts.add.get(field, ())
                changes.append(
                    Change(since=version, field=field, why=_WHY, add=members, remove=facts.remove.get(field, ()))
                )
    for rules in description.family.values():
        if rules.leave_out:
            changes.append(Change(version, "left_out", _WHY, rules.leave_out))
        if rules.slots or rules.keys or any(file.slots for file in rules.file.values()):
            changes.append(Change(version, "left_out", "kernels are registered for a backend", (OWN_KERNEL,)))
    return changes


def wrong_facts(description: Description) -> Iterator[tuple[tuple[str, ...], SpecError]]:
    """Errors for facts that no release has and parts that no kernel has, each with its path in the description."""
    lists = [field for field in Release.__struct_fields__ if is_collection(field) and field not in INTERNAL]
    for place, facts in enumerate(description.facts):
        for verb, fields in (("add", facts.add), ("remove", facts.remove)):
            for field in fields:
                if field not in lists:
                    hint = nearest(field, lists) or "docs/vendors.md lists them"
                    yield ("facts", str(place), verb, field), SpecError(f"there is no list of facts '{field}'", hint)
        for field, members in facts.add.items():
            if field in lists and isinstance(members, dict) != is_table(field):
                hint = "write {name = value}" if is_table(field) else 'write ["name", …]'
                yield ("facts", str(place), "add", field), SpecError(f"'{field}' is added to in another form", hint)
            elif field == "unbound":
                yield from _malformed_patterns(("facts", str(place), "add", field), members)
    for family, rules in description.family.items():
        for place, part in enumerate(rules.leave_out):
            if part not in PARTS:
                hint = nearest(part, PARTS) or f"write some of {', '.join(PARTS)}"
                yield (
                    ("family", family, "leave_out", str(place)),
                    SpecError(f"no kernel has a part '{part}'", hint, needle=part),
                )


def _malformed_patterns(at: tuple[str, ...], members: Iterable[str]) -> Iterator[tuple[tuple[str, ...], SpecError]]:
    for member in members:
        try:
            re.compile(member)
        except re.error as error:
            yield at, SpecError(f"not a regular expression: {error}", "write one, or a C++ name", needle=member)


def is_collection(field: str) -> bool:
    """Whether the field is a list or a table."""
    type_ = str(Release.__annotations__[field])
    return re.match(r"(frozenset|tuple)\[|dict\[str, str\]", type_.replace("<class '", "")) is not None


def is_table(field: str) -> bool:
    """Whether a field of `Release` is a dict, which a description changes key by key."""
    return str(Release.__annotations__[field]).startswith("dict")
