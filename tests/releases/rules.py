"""How the facts of a release differ from the objects of its own torchgen, as the rows that are missing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from releases import run

SCRIPT = Path(__file__).with_name("upstream_rules.py")
ORDERED = ("variants_from",)  # of a set of torchgen's no order matters


def upstream_rules(root: Path) -> dict[str, Any]:
    """The facts of the torchgen and the headers in a folder, by field of `Release`. Broken if torchgen fails."""
    return json.loads(run([sys.executable, str(SCRIPT), str(root)]))


def missing_rows(version: str, root: Path) -> list[str]:
    """What differs between gradmill's facts of a release and the torchgen in `root`: the rows of `releases/facts`,
    those that end and those that begin, after their field; and the fields that nothing is compared with."""
    from gradmill.releases import KNOWN, minor, newest_at, resolve
    from gradmill.releases.facts import facts_of

    of = minor(version)  # of one that is added KNOWN may be the text before
    release, before = resolve(of), newest_at(of, [each for each in map(minor, KNOWN) if each != of]) or of
    upstream = upstream_rules(root)
    rows = [f"{field}: it is compared with nothing" for field in facts_of(of) if field not in upstream]
    for field, theirs in upstream.items():
        own, other = lines_of(field, getattr(release, field)), lines_of(field, theirs)
        rows += [f"{field}: {line}; …-{before}  # …" for line in own if line not in other]
        rows += [f"{field}: {line}; {of}-  # …" for line in other if line not in own]
    return rows


def lines_of(field: str, facts: Any) -> list[str]:
    """The rows of a flag, a text, a number, a mapping, a set, or of a list whose order matters: all of it."""
    if isinstance(facts, bool):
        return ["true"] if facts else []
    if isinstance(facts, dict):
        return [f"{key} = {' '.join(lines_of(field, value))}" for key, value in facts.items()]
    if isinstance(facts, str | int):
        return [str(facts)]
    return [" ".join(facts)] if field in ORDERED else sorted(facts)
