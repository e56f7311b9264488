"""Stage `shard:<file>`: the pieces of many units and a template to one generated file.

The units of a file are joined in groups of neighbours: an edited formula joins its own group and no other.
"""

from __future__ import annotations

import hashlib
import re

from msgspec import Struct

from pipeline.families.family import Layout, generated_comment
from pipeline.families.file import File
from pipeline.families.table import FAMILIES
from pipeline.families.template import Hole, Template, Value, indented, template_text
from pipeline.model.entries import grouped
from pipeline.problems.problem import Problem, SpecError, nearest
from pipeline.query.database import Database
from pipeline.query.query import query, table, unkept
from pipeline.query.row import digest
from pipeline.stages.emit import rendered, text
from pipeline.stages.set import release, spec_set, template_label, unreadable
from pipeline.stages.units import families, units

_BRACE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\\\.|[^\"\\\\])*\"|\bnamespace\s+([\w:]+)\s*\{|[{}]", re.DOTALL)
# Upstream formats all generated text as if it were Python: after a docstring, one blank line, then the definition.
_DOCSTRING = re.compile(r'(""")\n+((\s*@.+\n)*\s*(class|def))')


class Made(Struct, frozen=True, array_like=True):
    """What is known of a generated file."""

    size: int
    xxh3: bytes
    sha256: bytes


@table
def files(db: Database, layout: str, shards: int) -> dict[str, File]:
    """The files of all families."""
    kind = Layout("split" if layout == "split" else "upstream", shards)
    return {file.name: file for name in families(db) for file in FAMILIES[name].files(units(db, name), kind)}


@table
def groups(db: Database, layout: str, shards: int, name: str) -> dict[str, list[str]]:
    """The units of a file in groups of neighbours, each called after its first."""
    file = files.item(db, layout, shards, name)
    return {group[0]: group for group in grouped(file.units)} if file is not None else {}


@query
def block(db: Database, layout: str, shards: int, name: str, hole: str, indent: str, group: str) -> str:
    """What a group of units puts into a hole of a file. A unit without any line takes none."""
    file = files.item(db, layout, shards, name)
    if file is None:
        return ""
    piece, family = file.slots[hole], file.family
    pieces = [text(db, family, unit).get(piece, "") for unit in groups.item(db, layout, shards, name, group) or ()]
    trim = release(db).trims_lines
    return "\n".join(indented(found, indent, trim=trim) if indent else found for found in pieces if found)


def blocks(db: Database, file: File) -> list[tuple[str, str]]:
    """The holes of a file's template that take units, each with its indentation."""
    try:
        template = _template_of(db, file)
    except SpecError:  # reported by what is made from it
        return []
    found = (part for part in template.parts if isinstance(part, Hole))
    return [(part.name, part.indent or "") for part in found if part.name in file.slots]


def template_of(db: Database, file: File) -> Template | None:
    """A file's template, None where it cannot be read or has a hole that nothing fills."""
    try:
        return _template_of(db, file)
    except SpecError as error:
        db.report(Problem("template", "", "", error.problem, error.hint, error.field, error.needle, file=file.template))
        return None


def _template_of(db: Database, file: File) -> Template:
    label = template_label(file.template)
    data = db.input(label) if file.template else b""
    if data is None:
        raise SpecError(f"cannot be read: {unreadable(db).get(label, 'it is missing')}")
    return _parsed(template_text(data), file, trim=release(db).trims_lines)


def _parsed(found: str, file: File, *, trim: bool) -> Template:
    if file.reopens:
        found = _reopened(found, next(iter(file.slots)))
    template = Template(file.before + found, trim=trim)
    known = {"generated_comment", *file.constants, *file.slots}
    for name in sorted(template.names):
        if name not in known:
            raise SpecError(f"the template has an unknown hole '${{{name}}}'", nearest(name, known), needle=name)
    return template


def _reopened(text: str, hole: str) -> str:
    """The hole alone, inside the namespaces that are open around it."""
    stack: list[str] = []
    for match in _BRACE.finditer(text.partition(f"${{{hole}}}")[0]):
        if match.group() == "}":
            stack.pop()
        elif match.group().endswith("{"):
            stack.append(match.group(1) or "")
    opened = [name for name in stack if name]
    begin = "".join(f"namespace {name} {{\n\n" for name in opened)
    end = "".join(f"\n\n}} // namespace {name}" for name in reversed(opened))
    return f"{begin}${{{hole}}}{end}\n"


@unkept
def contents(db: Database, layout: str, shards: int, name: str) -> bytes:
    """The bytes of a generated file."""
    file = files.item(db, layout, shards, name)
    template = template_of(db, file) if file is not None else None
    if file is None or template is None:
        return b""
    facts = release(db)
    values: dict[str, Value] = {
        "generated_comment": generated_comment(spec_set(db).comment, file.template or file.name),
        **file.constants,
    }
    blocks = {hole for hole in file.slots if _is_block(template, hole)}
    for hole, piece in file.slots.items():
        inline = hole in template.names and hole not in blocks
        values[hole] = [rendered(db, file.family, unit).get(piece, "") for unit in file.units] if inline else ""
    parts: list[str] = []
    for part, filled in zip(template.parts, template.filled(values)):
        if isinstance(part, Hole) and part.name in blocks:
            indent, at = part.indent or "", (layout, shards, name)
            joined = [block(db, *at, part.name, indent, group) for group in db.names(groups, *at)]
            parts.append("\n".join(filter(None, joined)).rstrip())
        else:
            parts.append(filled)
    made = "".join(parts)
    if facts.spaces_docstrings and '"""' in made:
        made = _DOCSTRING.sub(r"\g<1>\n\n\g<2>", made)
    return made.encode()


def _is_block(template: Template, hole: str) -> bool:
    """Whether the template has a hole once, on a line of its own: each piece then stands there as it is."""
    holes = [part for part in template.parts if isinstance(part, Hole) and part.name == hole]
    return len(holes) == 1 and holes[0].indent is not None


@query
def made(db: Database, layout: str, shards: int, name: str) -> Made:
    """Size and digests of a generated file."""
    data = contents(db, layout, shards, name)
    return Made(len(data), digest(data), hashlib.sha256(data).digest())


@query
def stage(db: Database, layout: str, shards: int) -> int:
    """All generated files."""
    return len([db.digest(made, layout, shards, name) for name in db.names(files, layout, shards)])
