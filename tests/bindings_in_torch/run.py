"""A process that makes the calls of a module, or a part of them, and writes down what differs."""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch

from bindings_in_torch import by_hand, misuse, return_types, samples, schemas
from bindings_in_torch.answers import Answer
from bindings_in_torch.rows import Row
from bindings_in_torch.tables import Pair, Tables, tables

_LONGEST = 400  # characters, of what is shown


class Record:
    """Counts of calls by group, and each difference."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.equal: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.different: list[dict[str, str]] = []
        self.called: set[str] = set()
        self.gave: set[str] = set()  # a value, not an error

    def add(self, group: str, row: Row, ours: Answer, torchs: Answer) -> None:
        self.calls[group] += 1
        self.called.add(row.binding)
        if torchs.failed:
            self.errors[group] += 1
        else:
            self.gave.add(row.binding)
        if ours == torchs:
            self.equal[group] += 1
        else:
            self.different.append({"group": group, "binding": row.binding, "row": str(row)} | _shown(ours, torchs))

    def data(self, both: Tables) -> dict[str, Any]:
        """All of it as JSON."""
        counts = {name: dict(getattr(self, name)) for name in ("calls", "equal", "errors")}
        names = {"called": sorted(self.called), "gave": sorted(self.gave), "bindings": sorted(both.pairs)}
        return counts | names | {"different": self.different}


def _shown(ours: Answer, torchs: Answer) -> dict[str, str]:
    field = next(name for name in ours._fields if getattr(ours, name) != getattr(torchs, name))
    texts = (f"{field}: {getattr(answer, field)!r}"[:_LONGEST] for answer in (ours, torchs))
    return dict(zip(("ours", "torchs"), texts))


def groups(both: Tables) -> Iterator[tuple[str, Iterable[tuple[Pair, Row]]]]:
    """The calls of all bindings that the module has."""
    pairs = both.pairs

    def of(rows: Iterable[Row]) -> Iterator[tuple[Pair, Row]]:
        return ((pairs[row.binding], row) for row in rows if row.binding in pairs)

    yield "written by hand", of(by_hand.rows())
    yield "misuse", ((pair, row) for pair in pairs.values() for row in misuse.rows(pair))
    yield "torch's schemas", of(schemas.rows(pairs))
    yield "torch's samples", samples.calls(both.ours_of())
    yield "classes of named results", return_types.calls(both.module)


def record(both: Tables, last: int) -> Record:
    """The calls of all bindings. Writes the name of each call to a file before it is made."""
    result = Record()
    for group, calls in groups(both):
        for pair, row in calls:
            os.pwrite(last, f"{row}\n".encode().ljust(400), 0)
            result.add(group, row, *row.ask(pair))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--module", type=Path, required=True)
    parser.add_argument("--only", default="", help="what names of bindings begin with")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_warn_always(True)
    torch.use_deterministic_algorithms(True, warn_only=True)  # new memory is filled, too
    warnings.simplefilter("ignore")
    both = tables(options.module, options.only)
    last = os.open(options.out.with_suffix(".last"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    options.out.write_text(json.dumps(record(both, last).data(both)))


if __name__ == "__main__":
    main()
