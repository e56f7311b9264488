"""What all campaigns have in common: how many trials, and which seed; each wrong one when it is found; a table."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from itertools import islice
from random import Random
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")

_LINE = 30  # seconds between two lines that say how far it is


class Trial(NamedTuple):
    """One of many."""

    kind: str  # the row of the table that counts it
    wrong: str = ""  # what is wrong, "" for nothing
    what: str = ""  # how to find or repeat it
    also: str = ""  # another column of the table that counts it

    def __str__(self) -> str:
        return f"{self.kind}{', ' if self.what else ''}{self.what}: {self.wrong}"


def options(description: str | None, count: int | None) -> argparse.ArgumentParser:
    """A parser that has the options of all campaigns. `count`: of trials by default, None for all."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=count, metavar="N", help=f"how many; by default {count or 'all'}")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="which of them, and in which order; 0")
    parser.add_argument("--minutes", type=float, default=float("inf"), metavar="M", help="when to begin no more")
    return parser


def in_order(items: Sequence[Item], wanted: argparse.Namespace) -> list[Item]:
    """The items as the seed orders them, so that each is tried where time ends before all are."""
    return Random(wanted.seed).sample(items, len(items)) if wanted.seed else [*items]


def wrong(trials: Iterable[Trial], count: int | None = None) -> list[str]:
    """What is wrong in so many of the trials."""
    return [str(trial) for trial in islice(trials, count) if trial.wrong]


def run(trials: Iterable[Trial], wanted: argparse.Namespace) -> int:
    """Makes so many of the trials. The exit status: 1 if any is wrong."""
    print(f"seed {wanted.seed}", flush=True)
    made: list[Trial] = []
    begin = said = time.monotonic()
    for trial in islice(trials, wanted.count):
        made.append(trial)
        now = time.monotonic()
        if trial.wrong:
            print(f"{len(made)}, {trial}", flush=True)
        if now - said > _LINE:
            said = now
            print(f"{len(made):6}{f' of {wanted.count}' if wanted.count else ''}, {now - begin:.0f} s", flush=True)
        if now - begin > wanted.minutes * 60:
            print("the time is over")
            break
    print(table(made))
    return 1 if any(trial.wrong for trial in made) else 0


def table(trials: list[Trial]) -> str:
    """A line for each kind, and one for all."""
    kinds = {trial.kind: [each for each in trials if each.kind == trial.kind] for trial in trials}
    more = sorted({trial.also for trial in trials} - {""})
    width = max(map(len, ["kind", *kinds]))
    lines = [f"{'kind':{width}}{'trials':>8}{''.join(f'{each:>12}' for each in more)}{'wrong':>8}"]
    for kind, of_kind in [*sorted(kinds.items()), ("all", trials)]:
        counts = "".join(f"{sum(trial.also == each for trial in of_kind):12}" for each in more)
        lines.append(f"{kind:{width}}{len(of_kind):8}{counts}{sum(bool(trial.wrong) for trial in of_kind):8}")
    return "\n".join(lines)
