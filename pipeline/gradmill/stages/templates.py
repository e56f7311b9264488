"""The templates of generated files, with what a description changes in them. Part of the stage `shard`."""

from collections.abc import Mapping

from gradmill.families.file import QUOTES, Content, File, NestedTemplate, Pieces, UnitTemplate, WithHoles
from gradmill.families.table import FAMILIES
from gradmill.families.template import Template, check_holes, check_lines, dense, template_text
from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError
from gradmill.query.database import Database
from gradmill.stages.emit import rendered
from gradmill.stages.set import release, template_label, unreadable

# Upstream formats all generated text as if it were Python: after a docstring, one blank line, then the definition.
_DOCSTRING = regex(r'(""")\n+((\s*@.+\n)*\s*(class|def))')


def template_of(db: Database, file: File) -> Template:
    """The template of a file, with the description's edits. Raises a SpecError if it is missing or invalid."""
    content, kind = _content(db, file), FAMILIES[file.family]
    described = release(db).described and kind.described
    if described and file.template:
        from gradmill.stages.layered.overridden_units import edited

        content = edited(db, file, content)
    check_lines(Template(content), (hole for hole, own in file.holes.items() if _is_on_line(own)))
    for nested in file.nested.values():
        filled = {hole for copy in nested.copies for hole, text in copy.items() if nested.on_line and "${" in text}
        check_lines(_within(db, nested.template), filled, f" in {nested.template}")
    if file.part:
        content = kind.parts[file.part](content, file.pieces)
    known, trim = {"generated_comment", *file.holes}, release(db).trims_lines
    within = Template(file.texts_with_holes).names
    if within:
        check_holes(Template(content), known - within, by_slots=described)
        content = Template(content, trim=trim).fill_some(_texts_with_holes(db, file))
    for own in file.holes.values():
        if isinstance(own, UnitTemplate):
            check_holes(_within(db, own.template), set(kind.rendered))
    return check_holes(Template(file.before + content, trim=trim, blocks=not file.raw), known, by_slots=described)


def is_rewritten(db: Database, file: File) -> bool:
    """Whether a file's template differs from the one on disk."""
    on_disk = Template(file.before + _content(db, file), blocks=not file.raw)
    return template_of(db, file).parts != on_disk.parts


def _content(db: Database, file: File) -> str:
    """The text of a file's template on disk; "" if it has none."""
    data = db.input(template_label(file.template)) if file.template else b""
    if data is None:
        why = unreadable(db).get(template_label(file.template), "it is missing")
        raise SpecError(f"cannot be read: {why}")
    return template_text(data)


def _is_on_line(content: Content) -> bool:
    return isinstance(content, (WithHoles, Pieces, NestedTemplate)) and content.on_line


def _texts_with_holes(db: Database, file: File) -> dict[str, str]:
    """The texts that are filled in first, also those of other templates. Upstream drops the empty lines of these.
    Raises a SpecError if one is missing."""
    texts = {hole: own.text for hole, own in file.holes.items() if isinstance(own, WithHoles)}
    for hole, nested in file.nested.items():
        copies = (_within(db, nested.template).fill_some(copy) for copy in nested.copies)
        texts[hole] = "\n".join(map(dense, copies))
    return texts


def _within(db: Database, name: str) -> Template:
    """A template within another one. Raises a SpecError if it is missing."""
    data = db.input(template_label(name))
    if data is None:
        raise SpecError(f"the template {name} cannot be read, which is within it", "add that file")
    return Template(template_text(data), trim=release(db).trims_lines)


def holes_of(db: Database, template: str) -> set[str]:
    """The holes of a template on disk."""
    return Template(template_text(db.input(template_label(template)) or b"")).names


def wrapped(db: Database, name: str, family: str, members: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The text of a template for each unit, filled with its pieces. None for units without any. `members`: the units
    with their pieces as in blocks."""
    template, kind = _within(db, name), FAMILIES[family]
    if all(hole in kind.words or template.is_block(hole) for hole in template.names):
        return {unit: template.fill(pieces) for unit, pieces in members.items() if pieces}
    listed = ((unit, rendered(db, family, unit)) for unit, pieces in members.items() if pieces)
    return {unit: template.fill({hole: kind.items(own, hole) for hole in template.names}) for unit, own in listed}


def formatted(db: Database, whole: str) -> str:
    """The text of a file as upstream writes it: since 2.8 as if it were Python."""
    spaced = QUOTES in whole and release(db).spaces_docstrings
    return _DOCSTRING.sub(r"\g<1>\n\n\g<2>", whole) if spaced else whole
