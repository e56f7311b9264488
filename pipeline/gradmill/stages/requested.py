"""The families that are generated: requested ones that the spec set has templates for. Part of the stage `emit`."""

from gradmill.families.rows import FAMILY_ROWS, HOOK_FILES, distinctive
from gradmill.query.database import Database
from gradmill.specs.spec_set import FILE_NAMES
from gradmill.stages.added import added
from gradmill.stages.set import (
    asked_families,
    defines,
    described,
    families_described,
    own_templates,
    spec_set,
)


def families(db: Database) -> list[str]:
    """The requested families that the spec set has templates for, or else those by default; those of extensions
    with files. If there is none, the first one whose templates are missing: the stage `shard` says so."""
    by_default = [name for name, row in FAMILY_ROWS.items() if row.by_default]
    wanted = asked_families(db) or [*(families_described(db) or by_default), HOOK_FILES]
    of_set = [name for name, row in FAMILY_ROWS.items() if name in wanted and not row.source]
    found = [name for name in of_set if not lacking(db, name)]
    found += [name for name, row in FAMILY_ROWS.items() if row.source and added(db, row.source)]
    return found or [name for name in of_set if FAMILY_ROWS[name].needs and not FAMILY_ROWS[name].needs_file][:1]


def lacking(db: Database, family: str) -> str:
    """What a family is made from and the spec set does not have: a spec file, or all templates; "" if it has some."""
    row, facts = FAMILY_ROWS[family], spec_set(db)
    if row.needs_file and row.needs_file not in facts.files:
        return FILE_NAMES[row.needs_file]
    layers = described(db)
    rules = None if layers is None else layers.description.family.get(family)
    if family == HOOK_FILES and not defines(db, "files"):
        return "files, in the hooks of a description,"
    known = (*row.templates, *(rules.file if rules is not None else ()))
    has_templates = not row.needs or any(name in facts.templates for name in distinctive(row))
    has_templates = has_templates or any(name in known for name in own_templates(db, family))
    return "" if has_templates else f"the template {row.needs}"
