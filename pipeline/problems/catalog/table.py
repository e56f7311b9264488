"""All rules by name: what `gradmill rule` prints, and what silences may name."""

from __future__ import annotations

from pipeline.problems.catalog.entries import ENTRIES
from pipeline.problems.catalog.formulas import FORMULAS
from pipeline.problems.catalog.sets import SETS, SILENCES
from pipeline.problems.catalog.verification import VERIFICATION

_ALL = (*FORMULAS, *ENTRIES, *SETS, *SILENCES, *VERIFICATION)
RULES = {rule.name: rule for rule in sorted(_ALL, key=lambda rule: rule.name)}
