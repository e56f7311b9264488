"""Campaigns: what tests try a few times, tried at length, with a seed.

    python -m tests.campaigns NAME [--seed N] [--minutes M]    and the campaign's own options: NAME --help

Each prints its seed, what is wrong when it is found, and a table at the end; its exit status is 1 if anything is wrong.
`README.md` says what each of them guards, and for whom it is.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Campaign(NamedTuple):
    """One of many. Its module has `main`, which takes the words behind the name and gives the exit status."""

    module: str
    short: str  # the words of a run that takes seconds, for a test; NEWEST is the installed torch


CAMPAIGNS = {
    "chains": Campaign("never_wrong.chains", "--set toy --count 1"),
    "code": Campaign("code_mutations", "pipeline/gradmill/query/table.py --count 1 --tests tests/query/test_engine.py"),
    "damage": Campaign("never_wrong.damage", "--count 3"),
    "kills": Campaign("never_wrong.kills", "--count 1"),
    "kinds": Campaign("never_wrong.kinds", "--count 2"),
    "long": Campaign("long_tests", "--count 1 tests/session/test_unchanged.py"),
    "pairs": Campaign("pairs.campaign", "--quick --count 2"),
    "programs": Campaign("graphs.random_programs", "--count 8"),
    "races": Campaign("never_wrong.moments", "--count 1"),
    "releases": Campaign("releases.live", "NEWEST"),
    "samples": Campaign("verify.sampled", "--made exp"),
    "sets": Campaign("never_wrong.mutations", "--count 1"),
    "torch": Campaign("graphs.releases", "NEWEST --programs 8"),
    "trees": Campaign("trees", "NEWEST --subset pybindings"),
    "verify": Campaign("verify.mutations", "--count 3 --only exp mul neg sin"),
}


def main() -> int:
    name, *words = sys.argv[1:] or ["--help"]
    if name not in CAMPAIGNS:
        print(__doc__, *sorted(CAMPAIGNS), sep="\n")
        return 0 if name in ("-h", "--help") else 2
    sys.argv[0] = f"python -m tests.campaigns {name}"  # as help shows it
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]  # as pytest has them on the path
    return int(import_module(CAMPAIGNS[name].module).main(words))


if __name__ == "__main__":
    sys.exit(main())
