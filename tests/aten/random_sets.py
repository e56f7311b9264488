"""Sets of random functions: gradmill and torchgen.gen must come to one verdict, and to the same files.

    python -m tests.campaigns functions [--count N] [--seed N] [--minutes M] [--functions N]

Each operator is judged alone, then all that are accepted together: some are only refused next to others, since their
keys have kernels then, and are left out of the next attempt.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from random import Random

import yaml
from never_wrong.aten_sets import JudgeOfAten
from never_wrong.campaign import Trial, options, run
from never_wrong.oracle import Oracle
from never_wrong.specset import DERIVATIVES, NATIVE, TAGS, Specs, read_specs, torch_folder

from aten.random_functions import Entry, RandomFunctions

Operator = list[Entry]

SETS, FUNCTIONS = 120, 40
_NAMED = re.compile(r"\bodd\d+x")
_WIDTH = 10**9  # no line of YAML is broken


def trials(judge: JudgeOfAten, seed: int, functions: int) -> Iterator[Trial]:
    """Those of one set of so many operators."""
    made, accepted = RandomFunctions(Random(seed)), list[Operator]()
    for number in range(functions):
        operator = made.variants(f"odd{number}x")
        verdict = judge.judge_specs(_specs([operator]))
        accepted += [operator] if verdict.accepted else []
        yield verdict.trial(f"seed {seed}: {operator}")
    while accepted:
        verdict = judge.judge_specs(_specs(accepted))
        yield verdict.trial(f"seed {seed}: {len(accepted)} operators together")
        refused = set() if verdict.accepted else set(_NAMED.findall(verdict.detail))
        if not refused:
            return
        accepted = [each for each in accepted if refused.isdisjoint(_NAMED.findall(each[0]["func"]))]


def _specs(operators: Sequence[Operator]) -> Specs:
    """A set with these functions, torch's tags and no derivatives."""
    entries = [yaml.safe_dump([entry], sort_keys=False, width=_WIDTH) for operator in operators for entry in operator]
    tags = read_specs(torch_folder(), [TAGS])
    return Specs({NATIVE: "", DERIVATIVES: "", **tags.heads}, {NATIVE: entries, DERIVATIVES: [], **tags.entries})


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, SETS)
    parser.add_argument("--functions", type=int, default=FUNCTIONS, metavar="N", help=f"of a set; {FUNCTIONS}")
    wanted = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="gradmill-") as name, Oracle() as torchgen:
        judge = JudgeOfAten(Path(name), torchgen)
        sets = (trials(judge, seed, wanted.functions) for seed in count(wanted.seed))
        return run(chain.from_iterable(sets), wanted)
