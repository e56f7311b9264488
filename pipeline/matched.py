"""What `match` says of every native function, put together from its artifacts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pipeline.build.engine import Build
from pipeline.model.autograd import ForwardDerivative
from pipeline.model.infos import Dependents, Pairs, Rewritten


class Matched(NamedTuple):
    """One native function and its derivatives."""

    func: str
    source: dict[str, str] | None  # dispatch key -> the function whose info it is
    rewritten: dict[str, tuple[ForwardDerivative, ...]] | None  # in-place: forward derivatives made for it


def all_matched(build: Build) -> Iterator[Matched]:
    """All native functions, sorted by C++ name; `match` is up to date."""
    made = build.outcome("match").artifacts
    rewritten = build.load(made["rewritten"], Rewritten).rows
    inplace = {row.func for row in build.load(made["dependents"], Dependents).rows if row.inplace}
    for pair in build.load(made["pairs"], Pairs).rows:
        yield Matched(pair.func, pair.source, rewritten[pair.func].derivatives if pair.func in inplace else None)
