"""The facts of releases, each with the releases that it is valid for.

A line `//// field` begins a set or an ordered list, `//// field =` a mapping, `//// field = *` one to lists,
`//// field ?` a flag, `//// field :` a text or a number. `member; 2.8-  # why` is in 2.8 and later releases,
`member; 2.8-2.9` from 2.8 to 2.9, a member without releases in all. In a mapping a row is `member = value`; a flag is
set if it has a row; a text has one row for each release. Behind `#` is the object of torchgen that the field has, for
`tests/releases/upstream_rules.py`. The sets also have names without an operator: another spec set may have it.

torchgen: `gen_variable_type.gen_variable_type`, `gen_trace_type.should_trace`,
`gen_inplace_or_view_type.get_view_info`.
"""

from __future__ import annotations

from collections.abc import Callable

from gradmill.releases.spans import rows_of, texts_in

Rows = tuple[str, ...]

_TEXTS = texts_in(__file__).values()


def facts_of(version: str) -> dict[str, object]:
    """The facts of a minor release, by field of `Release`."""
    facts = {}
    for section in "".join(_TEXTS).split("//// ")[1:]:
        head, *members = section.splitlines()
        field, _, kind = head.partition("  # ")[0].partition(" ")
        facts[field] = _VALUE[kind](tuple(rows_of(members, version)))
    return facts


def _mapping(rows: Rows) -> dict[str, str]:
    return {member: value.strip() for member, _, value in (row.partition(" =") for row in rows)}


# By what is behind the field: the value that rows stand for.
_VALUE: dict[str, Callable[[Rows], object]] = {
    "": lambda rows: rows,
    "=": _mapping,
    "= *": lambda rows: {member: tuple(value.split()) for member, value in _mapping(rows).items()},
    "?": bool,
    ":": lambda rows: rows[0],
}
