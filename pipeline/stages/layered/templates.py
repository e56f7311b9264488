"""The templates of a family as a set has them."""

from __future__ import annotations

from pipeline.families.family import Layout
from pipeline.families.table import FAMILIES
from pipeline.families.template import Template, template_text
from pipeline.problems.problem import SpecError
from pipeline.query.database import Database
from pipeline.stages.layered.asking import rules_of
from pipeline.stages.set import own_templates, release, spec_set, template_label


def templates_of(db: Database, family: str) -> list[str]:
    """The templates that PyTorch's files of a family are made of."""
    return list(dict.fromkeys(file.made_of for file in FAMILIES[family].files([], Layout(), release(db))))


def template_texts(db: Database, family: str) -> list[str]:
    """The texts of all templates that files of a family are made of, those of the set's own files too."""
    own, labels = own_templates(db, family), spec_set(db).templates
    names = [*templates_of(db, family), *rules_of(db, family).file]
    found = dict.fromkeys(own.get(name, name) for name in names)
    return [_text(db, label) for label in found if label in labels or label in own.values()]


def holes(db: Database, family: str) -> set[str]:
    """The holes of all of them."""
    return {name for text in template_texts(db, family) for name in Template(text).names}


def _text(db: Database, label: str) -> str:
    try:
        return template_text(db.input(template_label(label)) or b"")
    except SpecError:  # which the file that is made of it reports
        return ""
