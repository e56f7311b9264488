"""Mutations of our own code: each one must fail a test.

    python -m tests.campaigns code [--only engine|rules|front] [--count N] [--seed N] [--minutes M]

The tables are `query/mutations.py`, `rules/mutations.py` and `front/mutations.py`. Each mutation replaces one piece of
a copy of the code, at one place, which `test_named.py` checks. Then the tests run that should notice it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from never_wrong.campaign import Trial, in_order, options, run
from project import ROOT

from tests.front.mutations import TABLE as FRONT
from tests.query.mutations import COPIED, MUTATIONS, Mutation, noticed_by
from tests.rules.mutations import TABLE as RULES

TABLES: dict[str, Sequence[tuple[Mutation, Sequence[str]]]] = {
    "engine": [(mutation, ("tests/query",)) for mutation in MUTATIONS],
    "rules": RULES,
    "front": FRONT,
}


def trials(table: Sequence[tuple[Mutation, Sequence[str]]]) -> Iterator[Trial]:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, folder / name)
        for mutation, tests in table:
            test, piece = noticed_by(mutation, folder, tests), " ".join(mutation.new.split())[:50] or "(nothing)"
            print(f"{mutation.file:22} {piece:52} {test or 'SURVIVES'}", flush=True)
            yield Trial(mutation.file, "" if test else "no test notices it", mutation.new)


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, None)
    parser.add_argument("--only", choices=TABLES, action="append", help="the mutations of one table")
    wanted = parser.parse_args(words)
    chosen = [row for name in wanted.only or TABLES for row in TABLES[name]]
    return run(trials(in_order(chosen, wanted)), wanted)
