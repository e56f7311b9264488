"""What a description changes in the templates of a family."""

from __future__ import annotations

from gradmill.families.described import with_libraries
from gradmill.families.file import File
from gradmill.families.table import FAMILIES
from gradmill.families.template import Template
from gradmill.problems.problem import SpecError, nearest
from gradmill.query.database import Database
from gradmill.stages.layered.overridden_units import rules_of
from gradmill.stages.set import own_templates


def edited(db: Database, file: File, text: str) -> str:
    """The text of a file's template with what the description changes in it. SpecError if it lacks a hole that the
    description fills."""
    rules, own = rules_of(db, file.family), own_templates(db, file.family)
    if file.template in {own.get(name, name) for name in FAMILIES[file.family].templates}:
        text = with_libraries(text, file)
    known = Template(text).names
    for name, each in rules.file.items():
        for hole in each.slots if own.get(name, name) == file.template else ():
            if hole not in known:
                hint = nearest(hole, sorted(known)) or f"its holes: {', '.join(sorted(known))}"
                path = ("family", file.family, "file", name, "slots", hole)
                error = SpecError(f"the template has no hole '{hole}'", hint, field=path, needle=hole)
                error.role = "set"
                raise error
    return text
