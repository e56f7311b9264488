"""A rule of the catalog: the meaning of one kind of warning. The rules are in `*.toml` next to this module, by name."""

from __future__ import annotations

from msgspec import Struct


class Rule(Struct, frozen=True):
    """One kind of problem. `bad` reports it and `good` does not; both are pieces of the file `file`."""

    name: str  # the one that reports print
    meaning: str  # what is wrong, and what comes of it
    bad: str
    good: str
    file: str = "derivatives.yaml"
    since: str = "0.1.0"  # the version of gradmill that added it
