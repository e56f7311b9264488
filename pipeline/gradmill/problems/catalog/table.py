"""All rules by name: what `gradmill rule` prints, and what silences may name."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

from gradmill.doors import loaded
from gradmill.problems.catalog.rule import Rule


def _own() -> Iterator[Rule]:
    for path in Path(__file__).parent.glob("*.toml"):
        for name, fields in tomllib.loads(path.read_text(encoding="utf-8")).items():
            yield Rule(name, **fields)


_ADDED: list[Rule] = [rule for rules in loaded("rules") for rule in rules]
RULES = {rule.name: rule for rule in sorted((*_own(), *_ADDED), key=lambda rule: rule.name)}
