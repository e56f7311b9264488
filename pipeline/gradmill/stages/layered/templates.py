"""The templates of a family in a spec set."""

from __future__ import annotations

from gradmill.families.family import Layout
from gradmill.families.table import FAMILIES
from gradmill.families.template import Template, template_text
from gradmill.problems.problem import SpecError
from gradmill.query.database import Database
from gradmill.stages.layered.overridden_units import rules_of
from gradmill.stages.set import own_templates, release, spec_set, template_label


def templates_of(db: Database, family: str) -> list[str]:
    """The templates of PyTorch's files of a family."""
    return list(dict.fromkeys(file.made_of for file in FAMILIES[family].files([], Layout(), release(db))))


def template_texts(db: Database, family: str) -> list[str]:
    """The texts of all templates of a family, including those of the set's own files."""
    own, labels = own_templates(db, family), spec_set(db).templates
    names = [*templates_of(db, family), *rules_of(db, family).file]
    template_labels = dict.fromkeys(own.get(name, name) for name in names)
    return [_text(db, label) for label in template_labels if label in labels or label in own.values()]


def holes(db: Database, family: str) -> set[str]:
    """The holes of all templates of a family."""
    return {name for text in template_texts(db, family) for name in Template(text).names}


def _text(db: Database, label: str) -> str:
    try:
        return template_text(db.input(template_label(label)) or b"")
    except SpecError:  # the stage `shard` reports it
        return ""
