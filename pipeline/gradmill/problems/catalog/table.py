"""All rules by name: what `gradmill rule` prints, and what silences may name."""

from __future__ import annotations

from gradmill.doors import loaded
from gradmill.problems.catalog.entries import ENTRIES
from gradmill.problems.catalog.formulas import FORMULAS
from gradmill.problems.catalog.rule import Rule
from gradmill.problems.catalog.sets import SETS, SILENCES
from gradmill.problems.catalog.verification import VERIFICATION

_ADDED: list[Rule] = [rule for rules in loaded("rules") for rule in rules]
_ALL = (*FORMULAS, *ENTRIES, *SETS, *SILENCES, *VERIFICATION, *_ADDED)
RULES = {rule.name: rule for rule in sorted(_ALL, key=lambda rule: rule.name)}
