"""The output families by name, each imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from gradmill.doors import load
from gradmill.families.family import Family
from gradmill.families.rows import FAMILY_ROWS


class _Families(Mapping[str, Family]):
    def __getitem__(self, name: str) -> Family:
        return _family(name)

    def __contains__(self, name: object) -> bool:
        return name in FAMILY_ROWS

    def __iter__(self) -> Iterator[str]:
        return iter(FAMILY_ROWS)

    def __len__(self) -> int:
        return len(FAMILY_ROWS)


FAMILIES = _Families()


@cache
def _family(name: str) -> Family:
    family: Family = load(f"{FAMILY_ROWS[name].module or f'gradmill.families.{name}'}:{name.upper()}")
    return family
