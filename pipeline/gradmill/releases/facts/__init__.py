"""Sets and mappings that are facts of releases, each member with the releases that have it.

A line `//// field` begins a set, `//// field =` a mapping, `//// field = *` one to lists. `member; 2.8-  # why` is in
2.8 and later releases, `member; 2.8-2.9` from 2.8 to 2.9, a member without releases in all. In a mapping a row is
`member = value`. The sets also have names without an operator: another spec set may have it.

torchgen: `gen_variable_type.gen_variable_type`, `gen_trace_type.should_trace`,
`gen_inplace_or_view_type.get_view_info`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from gradmill.io.files import files_in, read_file
from gradmill.releases.spans import rows_of

Facts = dict[str, tuple[str, ...] | dict[str, str] | dict[str, tuple[str, ...]]]

_TEXTS = [(read_file(path) or b"").decode() for path in files_in(os.path.dirname(__file__), ".txt")]


def facts_of(version: str) -> Facts:
    """The sets and mappings of a minor release, by field of `Release`."""
    facts: Facts = {}
    for head, members in _sections():
        field, mapping, kind = head.partition(" =")
        rows = tuple(rows_of(members, version))
        pairs = [(member, value.strip()) for member, _, value in (row.partition(" =") for row in rows)]
        if not mapping:
            facts[field] = rows
        elif kind:
            facts[field] = {member: tuple(value.split()) for member, value in pairs}
        else:
            facts[field] = dict(pairs)
    return facts


def _sections() -> Iterator[tuple[str, list[str]]]:
    """The first line of each section, and its other lines."""
    for section in "".join(_TEXTS).split("//// ")[1:]:
        head, *members = section.splitlines()
        yield head, members
