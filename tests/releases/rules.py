"""How the facts of a release differ from the lists of its own torchgen, as the rows that are missing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

SCRIPT = Path(__file__).with_name("upstream_rules.py")


def upstream_rules(root: Path) -> dict[str, list[str] | dict[str, object] | int]:
    """The lists of the torchgen in a folder, by field of `Release`. Raises subprocess.CalledProcessError."""
    run = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def missing_rows(version: str, root: Path) -> list[str]:
    """What differs between gradmill's facts of a release and the torchgen in `root`: the rows of `releases/facts`,
    those that end and those that begin, after their field."""
    from gradmill.releases import KNOWN, minor, newest_at, resolve

    of = minor(version)  # of one that is added KNOWN may be the text before
    release, before = resolve(of), newest_at(of, [each for each in map(minor, KNOWN) if each != of]) or of
    rows = []
    for field, theirs in upstream_rules(root).items():
        own, other = lines_of(getattr(release, field)), lines_of(theirs)
        rows += [f"{field}: {line}; …-{before}  # …" for line in own if line not in other]
        rows += [f"{field}: {line}; {of}-  # …" for line in other if line not in own]
    return rows


def lines_of(facts: int | Iterable[str] | dict[str, str] | dict[str, Iterable[str]]) -> list[str]:
    """The rows of a number, of a set, or of a mapping."""
    if isinstance(facts, int):
        return [str(facts)]
    if not isinstance(facts, dict):
        return sorted(facts)
    return [f"{key} = {value if isinstance(value, str) else ' '.join(sorted(value))}" for key, value in facts.items()]
