"""All rules by name: what `gradmill rule` prints, and what silences may name."""

from __future__ import annotations

from pipeline.problems.catalog.entries import ENTRIES
from pipeline.problems.catalog.formulas import FORMULAS
from pipeline.problems.catalog.sets import SETS
from pipeline.problems.catalog.silences import SILENCES

RULES = {rule.name: rule for rule in sorted((*FORMULAS, *ENTRIES, *SETS, *SILENCES), key=lambda rule: rule.name)}
