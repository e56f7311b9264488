"""What was recorded, as a table, and what differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Data = dict[str, Any]


def never_called(data: Data) -> set[str]:
    return set(data["bindings"]) - set(data["called"])


def lines(data: Data) -> Iterator[str]:
    yield f"{'calls':32} {'made':>7} {'equal':>7} {'errors of torch':>16}"
    for group, count in data["calls"].items():
        yield f"{group:32} {count:7} {data['equal'].get(group, 0):7} {data['errors'].get(group, 0):16}"
    totals = (sum(data[name].values()) for name in ("calls", "equal", "errors"))
    yield "{:32} {:7} {:7} {:16}".format("all", *totals)
    bindings = set(data["bindings"])
    yield f"{len(bindings & set(data['gave']))} of {len(bindings)} bindings gave a value in some call"
    for row in data["different"]:
        yield f"{row['row']} ({row['group']})\n    ours:  {row['ours']}\n    torch: {row['torchs']}"
    for binding in sorted(never_called(data)):
        yield f"{binding} was not called"
