"""The families that are generated: requested ones that the spec set has templates for. Part of the stage `emit`."""

from gradmill.families.hook_files import HOOK_FILES
from gradmill.families.table import FAMILIES, distinctive
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
    by_default = [name for name, family in FAMILIES.items() if family.by_default]
    wanted = asked_families(db) or [*(families_described(db) or by_default), HOOK_FILES.name]
    of_set = [family for name, family in FAMILIES.items() if name in wanted and not family.source]
    found = [family.name for family in of_set if not lacking(db, family.name)]
    found += [name for name, family in FAMILIES.items() if family.source and added(db, family.source)]
    return found or [family.name for family in of_set if family.needs and not family.needs_file][:1]


def lacking(db: Database, family: str) -> str:
    """What a family is made from and the spec set does not have: a spec file, or all templates; "" if it has some."""
    kind, facts = FAMILIES[family], spec_set(db)
    if kind.needs_file and kind.needs_file not in facts.files:
        return FILE_NAMES[kind.needs_file]
    layers = described(db)
    rules = None if layers is None else layers.description.family.get(family)
    if kind is HOOK_FILES and not defines(db, "files"):
        return "files, in the hooks of a description,"
    known = (*kind.templates, *(rules.file if rules is not None else ()))
    has_templates = not kind.needs or any(name in facts.templates for name in distinctive(kind))
    has_templates = has_templates or any(name in known for name in own_templates(db, family))
    return "" if has_templates else f"the template {kind.needs}"
