"""The templates of generated files, with what a description changes in them. Part of the stage `shard`."""

from collections.abc import Mapping

from gradmill.families.file import QUOTES, File
from gradmill.families.table import FAMILIES
from gradmill.families.template import Hole, Template, template_text
from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError, nearest
from gradmill.query.database import Database
from gradmill.stages.emit import rendered
from gradmill.stages.set import release, template_label, unreadable

# Upstream formats all generated text as if it were Python: after a docstring, one blank line, then the definition.
_DOCSTRING = regex(r'(""")\n+((\s*@.+\n)*\s*(class|def))')


def template_of(db: Database, file: File) -> Template:
    """The template of a file, with the description's edits. Raises a SpecError if it is missing or invalid."""
    data = db.input(template_label(file.template)) if file.template else b""
    if data is None:
        why = unreadable(db).get(template_label(file.template), "it is missing")
        raise SpecError(f"cannot be read: {why}")
    content = template_text(data)
    if file.libraries:
        from gradmill.families.described import edited

        content = edited(content, file)
    holes = Template(content).names if file.asked else set()
    for path in file.asked:
        if path[-1] not in holes:
            hint = nearest(path[-1], sorted(holes)) or f"its holes: {', '.join(sorted(holes))}"
            error = SpecError(f"the template has no hole '{path[-1]}'", hint, field=path, needle=path[-1])
            error.role = "set"
            raise error
    if file.of_lines:
        _check_lines(file, Template(content))
        for name in file.nested.values():
            _check_lines(file, _within(db, name), f" in {name}")
    if file.part:
        content = FAMILIES[file.family].parts[file.part](content, file.slots)
    by_slots = release(db).described and FAMILIES[file.family].described
    if file.raw:
        known = {"generated_comment", *file.constants, *file.slots, *file.ordered}
        return _checked(Template(file.before + content, blocks=False), known, by_slots=by_slots)
    trim = release(db).trims_lines
    if file.nested:
        content = _with_nested(db, file, content)
    elif file.first:
        content = _checked(Template(content, trim=trim), set(file.first)).fill(file.first)
    for name in file.wrapped.values():
        _checked(_within(db, name), set(FAMILIES[file.family].rendered))
    known = {"generated_comment", *file.constants, *file.slots, *file.ordered, *file.wrapped}
    return _checked(Template(file.before + content, trim=trim), known, by_slots=by_slots)


def _check_lines(file: File, template: Template, where: str = "") -> None:
    """SpecError for a hole within a line that takes lines only: what upstream's items are is not known there."""
    for part in template.parts:
        if isinstance(part, Hole) and part.indent is None and part.name in file.of_lines:
            problem = f"the hole '${{{part.name}}}'{where} is not alone on its line: gradmill prints lines there only"
            raise SpecError(problem, "write it on a line of its own", needle=part.name)


def _with_nested(db: Database, file: File, content: str) -> str:
    """The text of a file's template with the others that fill its holes. Of these, upstream drops the empty lines.
    Raises a SpecError if one is missing."""
    trim, texts = release(db).trims_lines, dict(file.first)
    for hole, name in file.nested.items():
        copies = (_filled_first(_within(db, name), {**file.first, **copy}) for copy in file.copies or ({},))
        texts[hole] = "\n".join(map(dense, copies))
    return _filled_first(Template(content, trim=trim), texts)


def _within(db: Database, name: str) -> Template:
    """A template within another one. Raises a SpecError if it is missing."""
    data = db.input(template_label(name))
    if data is None:
        raise SpecError(f"the template {name} cannot be read, which is within it", "add that file")
    return Template(template_text(data), trim=release(db).trims_lines)


def dense(text: str) -> str:
    """A text without empty lines."""
    return "\n".join(line for line in text.split("\n") if line)


def wrapped(db: Database, name: str, family: str, members: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The text of a template for each unit, filled with its pieces. None for units without any. `members`: the units
    with their pieces as in blocks."""
    template, kind = _within(db, name), FAMILIES[family]
    if all(hole in kind.words or is_block(template, hole) for hole in template.names):
        return {unit: template.fill(pieces) for unit, pieces in members.items() if pieces}
    listed = ((unit, rendered(db, family, unit)) for unit, pieces in members.items() if pieces)
    return {unit: template.fill({hole: kind.items(own, hole) for hole in template.names}) for unit, own in listed}


def _filled_first(template: Template, values: Mapping[str, str]) -> str:
    """A template with some of its holes filled."""
    return template.fill({hole: values.get(hole, f"${{{hole}}}") for hole in template.names})


def _checked(template: Template, known: set[str], *, by_slots: bool = False) -> Template:
    """The template, after a check that all its holes are known. `by_slots`: whether a description may fill others."""
    for name in sorted(template.names):
        if name not in known:
            hint = nearest(name, known)
            if by_slots:
                hint = f"{hint} or fill it in the description: slots.{name} = …".removeprefix(" or ")
            raise SpecError(f"the template has an unknown hole '${{{name}}}'", hint, needle=name)
    return template


def is_block(template: Template, hole: str) -> bool:
    """Whether the template has a hole once, on its own line: pieces are then printed there unchanged."""
    holes = [part for part in template.parts if isinstance(part, Hole) and part.name == hole]
    return len(holes) == 1 and holes[0].indent is not None


def formatted(db: Database, whole: str) -> str:
    """The text of a file as upstream writes it: since 2.8 as if it were Python."""
    spaced = QUOTES in whole and release(db).spaces_docstrings
    return _DOCSTRING.sub(r"\g<1>\n\n\g<2>", whole) if spaced else whole
