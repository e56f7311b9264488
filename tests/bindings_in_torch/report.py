"""What was recorded, as a table; what differs, and what is known to, with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from bindings_in_torch import known
from bindings_in_torch.build import Cost

_MIB = 1 << 20
Data = dict[str, Any]


def merged(parts: Sequence[Data]) -> Data:
    """The records of several processes as one."""
    whole: Data = {"different": [], "lacking": parts[0]["lacking"], "bindings": parts[0]["bindings"]}
    for name in ("calls", "equal", "errors", "cut"):
        whole[name] = sum((Counter(part[name]) for part in parts), Counter())
    for name in ("called", "gave"):
        whole[name] = sorted({binding for part in parts for binding in part[name]})
    whole["different"] = [difference for part in parts for difference in part["different"]]
    return whole


def costs(rows: Sequence[Cost]) -> Iterator[str]:
    yield f"{'compiled':32} {'s of CPU':>9} {'MiB':>6}"
    for row in rows:
        yield f"{row.name:32} {row.seconds:9.1f} {row.peak / _MIB:6.0f}"
    yield f"{'all':32} {sum(row.seconds for row in rows):9.1f}"


def unexplained(data: Data) -> list[dict[str, str]]:
    """The differences that are not known, and what nothing called."""
    return [row for row in data["different"] if row["binding"] not in known.DIFFERENT]


def never_called(data: Data) -> set[str]:
    return set(data["bindings"]) - set(data["called"]) - known.NOT_CALLED.keys()


def lines(data: Data) -> Iterator[str]:
    yield f"{'calls':32} {'made':>7} {'equal':>7} {'errors of torch':>16}"
    for group, count in data["calls"].items():
        yield f"{group:32} {count:7} {data['equal'].get(group, 0):7} {data['errors'].get(group, 0):16}"
    totals = (sum(data[name].values()) for name in ("calls", "equal", "errors"))
    yield "{:32} {:7} {:7} {:16}".format("all", *totals)
    bindings = set(data["bindings"])
    yield f"{len(bindings & set(data['called']))} of {len(bindings)} bindings were called"
    yield f"{len(bindings & set(data['gave']))} of {len(bindings)} gave a value in some call"
    for name, count in sorted(data["cut"].items()):
        yield f"{count} calls ended in {name}: not exported by libtorch_python"
    counted = Counter(row["binding"] for row in data["different"] if row["binding"] in known.DIFFERENT)
    for binding, count in sorted(counted.items()):
        yield f"{binding}: {count} calls differ, because {known.DIFFERENT[binding]}"
    for binding in sorted(known.NOT_CALLED.keys() & bindings):
        yield f"{binding}: not called, because {known.NOT_CALLED[binding]}"
    if data["lacking"]:
        yield f"written by hand in torch, not generated: {', '.join(data['lacking'])}"
    for row in unexplained(data):
        yield f"{row['row']} ({row['group']})\n    ours:  {row['ours']}\n    torch: {row['torchs']}"
    for binding in sorted(never_called(data)):
        yield f"{binding} was not called"
