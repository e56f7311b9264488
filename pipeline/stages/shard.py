"""Stage `shard:<file>`: the pieces of many units and a template to one generated file.

A file is an outline of text and blocks. A block has the pieces of a group of neighbours: an edited formula recomputes
the blocks of its own group only.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pipeline.cpp.kernel_names import DEFAULT_KEY
from pipeline.families.family import BackendFamily, BackendLayout, Layout, generated_comment
from pipeline.families.file import QUOTES, Ended, File, ended, joined
from pipeline.families.line_directives import directed, numbered, unmarked
from pipeline.families.table import FAMILIES
from pipeline.families.template import Hole, Template, Value, indented, template_text
from pipeline.model.entries import grouped
from pipeline.model.regex import regex
from pipeline.problems.problem import LAST, Problem, Role, SpecError, nearest, problem_of
from pipeline.query.database import Database
from pipeline.query.query import Parts, query, table, unkept
from pipeline.specs.text import conflict_marker
from pipeline.stages.emit import marked, rendered, text
from pipeline.stages.kernels import underived, used_keys
from pipeline.stages.set import (
    includes,
    is_described,
    own_templates,
    paths,
    place_of_key,
    places,
    release,
    spec_set,
    template_label,
    unreadable,
)
from pipeline.stages.tags import odd_tag, tags
from pipeline.stages.units import families, origin, place_of_field, units

# Upstream formats all generated text as if it were Python: after a docstring, one blank line, then the definition.
_DOCSTRING = regex(r'(""")\n+((\s*@.+\n)*\s*(class|def))')

ORIGIN = "o"  # a comment above a piece names its entry
LINES = "l"  # `#line` directives name the lines of its formulas
SORTED = "s"  # the different texts of each of some pieces, sorted


class Made(Struct, frozen=True, array_like=True):
    """The size and digests of a generated file."""

    size: int
    xxh3: bytes
    sha256: bytes


class Blocks(Struct, frozen=True, array_like=True):
    """A place in a file for one piece of each of its units, on separate lines."""

    family: str
    piece: str
    indent: str
    marks: str = ""  # how each piece names its origin: ORIGIN, LINES, or both; or SORTED, and `piece` lists pieces

    @property
    def place(self) -> str:
        """The place as part of a key."""
        return f"{self.indent}|{self.marks}|{self.piece}"


@table
def files(db: Database, layout: str, shards: int) -> dict[str, File]:
    """The files of all families, by name. Reports two with one name."""
    keys = tuple(used_keys(db))
    without = "" if DEFAULT_KEY in keys else underived(db)
    kind = Layout(
        "split" if layout == "split" else "upstream",
        shards,
        keys,
        without,
        tags=tuple(tags(db)),
        odd_tag=odd_tag(db),
        backend=_backend(db),
    )
    by_name: dict[str, File] = {}
    for file in (file for name in families(db) for file in _files(db, name, kind)):
        if file.name in by_name:
            twice = f"two files are called '{file.name}'"
            where, path = place_of_key(db, ("family", file.family))
            db.report(Problem("set", "", "", twice, "give one another name", path, file.name, file=where))
        by_name[file.name] = file
    if paths(db) is not None:
        by_name = {name: replace(file, lines=True) for name, file in by_name.items()}
    if not any(file.whole for file in by_name.values()):
        return by_name
    from pipeline.stages.graph_files import more, support  # much code, only needed with graphs

    shared = [*support(db), *more(db, by_name)]
    return {**by_name, **{file.name: file for file in shared}}


def _backend(db: Database) -> BackendLayout | None:
    """What the files of a backend need besides its functions; None if no requested family prints one."""
    family = next((name for name in families(db) if FAMILIES[name].unit == "backend"), "")
    if not family:
        return None
    from pipeline.stages.backend import backend, own_nodes  # only needed with a backend

    facts, how = backend(db), includes(db)
    return (
        None
        if facts is None
        else BackendLayout(facts, tuple(own_nodes(db)), how.folders.get(family, ""), how.operator_headers)
    )


def _files(db: Database, family: str, layout: Layout) -> list[File]:
    """The requested files of a family; none if there is an error, which is reported."""
    at = places(db)
    try:
        planned = [
            file for file in _planned_files(db, family, layout) if at.has(family, file.made_of.rpartition("/")[2])
        ]
        templates = spec_set(db).comment
        return [
            replace(
                file,
                family=family,
                name=at.path(family, file.name),
                comment=file.comment or generated_comment(templates, file.made_of),
            )
            for file in planned
        ]
    except SpecError as error:
        if error.role is not None:
            db.report(_elsewhere(error, error.role))
            return []
        # Any other error may be the reason why these lack derivatives.
        db.report(replace(problem_of(error, "derivatives", "", layout.underived), rank=LAST))
        return []


def _elsewhere(error: SpecError, role: Role) -> Problem:
    """The problem for an error of a family that names its place: an entry, or a template."""
    if role == "template":
        return replace(problem_of(error, role, "", ""), file=error.entry)
    return problem_of(error, role, error.entry, error.op)


def _planned_files(db: Database, family: str, layout: Layout) -> list[File]:
    kind, members, facts = FAMILIES[family], units(db, family), release(db)
    if not kind.described or not facts.described:
        return kind.files(members, layout, facts)
    from pipeline.families.described import described_files, layout_of, located, stands_apart
    from pipeline.stages.layered.asking import about_unit, namespaces, rules_of

    rules, templates = rules_of(db, family), own_templates(db, family)
    own = layout_of(layout, rules, namespaces(db) if stands_apart(kind, rules, templates) else ())
    planned = described_files(kind, members, own, facts, rules, lambda unit: about_unit(db, unit))
    known = {*spec_set(db).templates, *templates, *rules.files, *rules.file, ""}
    return [located(file, templates) for file in planned if file.template in known]


@table
def groups(db: Database, layout: str, shards: int, name: str) -> dict[str, list[str]]:
    """The units of a file in groups of neighbours, each keyed by its first unit."""
    file = files.item(db, layout, shards, name)
    return {group[0]: group for group in grouped(file.units)} if file is not None else {}


@query
def block(db: Database, layout: str, shards: int, name: str, group: str, family: str, places: str) -> list[Ended]:
    """The pieces of a group of units of a file, joined for each place. A unit without text takes no line."""
    listed = groups.item(db, layout, shards, name, group) or ()
    members = {unit: text(db, family, unit) for unit in listed}
    return [ended("\n".join(each for _, each in placed(db, family, members, place))) for place in places.split("\n")]


def placed(db: Database, family: str, members: Mapping[str, Mapping[str, str]], place: str) -> list[tuple[str, str]]:
    """Units with their text at a place, from all their pieces; without units that have none there."""
    trim, kind = release(db).trims_lines, FAMILIES[family]
    indent, origins, piece = place.split("|", 2)
    texts = []
    for unit, pieces in members.items():
        own = kind.piece(pieces, piece)
        if own and LINES in origins:
            own = _with_lines(db, family, unit, piece, own)
        if own:
            own = origin(db, family, unit) + own if ORIGIN in origins else own
            texts.append((unit, indented(own, indent, trim=trim) if indent else own))
    return texts


def _with_lines(db: Database, family: str, unit: str, piece: str, own: str) -> str:
    """A piece with directives for the lines of its formulas; `own` unchanged if marks would change other text, as they
    do if a description replaces text that is partly a formula's."""
    in_marks = FAMILIES[family].piece(marked(db, family, unit), piece)
    if unmarked(in_marks) != own:
        return own
    return directed(in_marks, lambda field: place_of_field(db, family, unit, field))


@query
def outline(db: Database, layout: str, shards: int, name: str) -> list[str | Blocks]:
    """A file with its blocks as placeholders; empty if its template cannot be read or has an unknown hole."""
    file = files.item(db, layout, shards, name)
    if file is None:
        return []
    if file.whole:
        from pipeline.stages.graph_files import whole

        return [whole(db, name)]
    try:
        template = template_of(db, file)
    except SpecError as error:
        described = error.role == "set"  # the error is in the description
        role: Role = "set" if described else "template"
        where, path = place_of_key(db, error.field) if described else (file.template, error.field)
        at = (error.problem, error.hint, path, error.needle)
        db.report(Problem(role, "", "", *at, file=where, rule=error.rule))
        return []
    _report_conflict(db, file)
    for hole in _lost(db, layout, shards, file) if file.template and not is_described(db) else ():
        problem = f"no template has the hole '{hole}': its text is printed nowhere"
        at = (problem, f"write ${{{hole}}} on its own line", (), hole)
        db.report(Problem("template", "", "", *at, warning=True, file=file.template, rule="no-hole"))
    kind = FAMILIES[file.family]
    values: dict[str, Value] = {"generated_comment": file.comment, **file.constants, **dict.fromkeys(file.ordered, "")}
    blocks = {hole for hole in file.slots if _is_block(template, hole)}
    for hole in file.slots:
        inline = hole in template.names and hole not in blocks
        texts = [kind.piece(rendered(db, file.family, unit), file.piece(hole)) for unit in file.units] if inline else []
        values[hole] = file.between.get(hole, "\n").join(filter(None, texts)) if file.raw else texts or ""
    filled_parts: list[str | Blocks] = []
    for part, filled in zip(template.parts, template.filled(values)):
        if isinstance(part, Hole) and part.name in file.ordered:
            filled_parts.append(Blocks(file.family, ",".join(file.ordered[part.name]), part.indent or "", SORTED))
        elif isinstance(part, Hole) and part.name in blocks:
            marks = _origins(file, file.slots[part.name])
            filled_parts.append(Blocks(file.family, file.piece(part.name), part.indent or "", marks))
        else:
            filled_parts.append(filled)
    return filled_parts


@query
def ordered(db: Database, layout: str, shards: int, name: str, family: str, place: str) -> str:
    """The different texts of each of some pieces of a file's units, sorted, for a place."""
    indent, _, pieces = place.split("|", 2)
    listed = [text(db, family, unit) for group in groups(db, layout, shards, name).values() for unit in group]
    different = [each for piece in pieces.split(",") for each in sorted({own.get(piece, "") for own in listed} - {""})]
    return "\n".join(indented(each, indent, trim=release(db).trims_lines) for each in different)


def ordered_places(db: Database, layout: str, shards: int, name: str) -> list[tuple[Any, ...]]:
    """The keys of all sorted texts of a file."""
    holes = [part for part in _holes_of(db, layout, shards, name) if part.marks == SORTED]
    return [(layout, shards, name, hole.family, hole.place) for hole in holes]


def _lost(db: Database, layout: str, shards: int, file: File) -> list[str]:
    """The holes required in a file's template that neither it nor another template of the family has."""
    homes = FAMILIES[file.family].homes
    filled = [*file.constants, *(file.first or (file.slots if file.units else ()))]
    wanted = [hole for hole in filled if homes.get(hole, file.template) == file.template]
    lost = set(wanted).difference(*(_holes(db, name) for name in (file.template, *file.nested.values())))
    if lost:
        family = (other for other in files(db, layout, shards).values() if other.family == file.family)
        lost = lost.difference(*(_holes(db, name) for name in {other.template for other in family if other.template}))
    return sorted(lost - {"generated_comment"})


def _holes(db: Database, template: str) -> set[str]:
    """The holes of a template on disk."""
    return Template(template_text(db.input(template_label(template)) or b"")).names


def _report_conflict(db: Database, file: File) -> None:
    """Reports conflict markers in a template, which torchgen would print. A line of `=` may underline a title."""
    data = db.input(template_label(file.template)) if file.template else None
    conflict = conflict_marker(template_text(data), "<>") if data else None
    if conflict is not None:
        at = (conflict.problem, conflict.hint)
        needle, rule = conflict.needle, conflict.rule
        db.report(Problem("template", "", "", *at, needle=needle, warning=True, file=file.template, rule=rule))


def _origins(file: File, piece: str) -> str:
    """How a piece in a file names its origin."""
    return (ORIGIN + LINES * file.lines) if piece in file.origins else ""


def template_of(db: Database, file: File) -> Template:
    """The template of a file, with the description's edits. Raises a SpecError if it is missing or invalid."""
    data = db.input(template_label(file.template)) if file.template else b""
    if data is None:
        why = unreadable(db).get(template_label(file.template), "it is missing")
        raise SpecError(f"cannot be read: {why}")
    content = template_text(data)
    if file.edits or file.libraries:
        from pipeline.families.described import edited

        content = edited(content, file)
    holes = Template(content).names if file.asked else set()
    for path in file.asked:
        if path[-1] not in holes:
            hint = nearest(path[-1], sorted(holes)) or f"its holes: {', '.join(sorted(holes))}"
            error = SpecError(f"the template has no hole '{path[-1]}'", hint, field=path, needle=path[-1])
            error.role = "set"
            raise error
    if file.part:
        content = FAMILIES[file.family].parts[file.part](content, file.slots)
    if file.raw:
        return _checked(
            Template(file.before + content, blocks=False), {"generated_comment", *file.constants, *file.slots}
        )
    trim = release(db).trims_lines
    if file.nested:
        content = _with_nested(db, file, content)
    elif file.first:
        content = _checked(Template(content, trim=trim), set(file.first)).fill(file.first)
    known = {"generated_comment", *file.constants, *file.slots, *file.ordered}
    return _checked(Template(file.before + content, trim=trim), known)


def _with_nested(db: Database, file: File, content: str) -> str:
    """The text of a file's template with the others that fill its holes. Of these, upstream drops the empty lines.
    Raises a SpecError if one is missing."""
    trim, texts = release(db).trims_lines, dict(file.first)
    for hole, name in file.nested.items():
        data = db.input(template_label(name))
        if data is None:
            raise SpecError(f"the template {name} cannot be read, which is within it", "add that file")
        filled = _filled_first(Template(template_text(data), trim=trim), file.first)
        texts[hole] = "\n".join(line for line in filled.split("\n") if line)
    return _filled_first(Template(content, trim=trim), texts)


def _filled_first(template: Template, values: Mapping[str, str]) -> str:
    """A template with some of its holes filled."""
    return template.fill({hole: values.get(hole, f"${{{hole}}}") for hole in template.names})


def _checked(template: Template, known: set[str]) -> Template:
    """The template, after a check that all its holes are known."""
    for name in sorted(template.names):
        if name not in known:
            raise SpecError(f"the template has an unknown hole '${{{name}}}'", nearest(name, known), needle=name)
    return template


def _is_block(template: Template, hole: str) -> bool:
    """Whether the template has a hole once, on its own line: pieces are then printed there unchanged."""
    holes = [part for part in template.parts if isinstance(part, Hole) and part.name == hole]
    return len(holes) == 1 and holes[0].indent is not None


def blocks(db: Database, layout: str, shards: int, name: str) -> list[tuple[Any, ...]]:
    """The keys of all blocks of a file."""
    holes = [part for part in _holes_of(db, layout, shards, name) if part.marks != SORTED]
    if not holes:
        return []
    places = "\n".join(hole.place for hole in holes)
    return [(layout, shards, name, group, holes[0].family, places) for group in db.names(groups, layout, shards, name)]


def _holes_of(db: Database, layout: str, shards: int, name: str) -> list[Blocks]:
    """The placeholders of a file. They are read from its outline, since a file itself lists all of its units."""
    return [part for part in outline(db, layout, shards, name) if isinstance(part, Blocks)]


@query
def parts(db: Database, layout: str, shards: int, name: str) -> list[bytes]:
    """The digests of a file's parts. Computing them reports all errors of the file."""
    file = None if _holes_of(db, layout, shards, name) else files.item(db, layout, shards, name)
    apart = [(file.family, unit) for unit in file.units] if file is not None and file.whole else []
    return [
        *(db.digest(text, family, unit) for family, unit in apart),
        db.digest(outline, layout, shards, name),
        *(db.digest(block, *at) for at in blocks(db, layout, shards, name)),
        *(db.digest(ordered, *at) for at in ordered_places(db, layout, shards, name)),
    ]


@unkept
def contents(db: Database, layout: str, shards: int, name: str) -> Parts:
    """The bytes of a generated file, as parts that are written one after another. `shards`: 0 for upstream's number."""
    encoded, quotes = _encoded(db, layout, shards, name)
    if quotes and release(db).spaces_docstrings:
        encoded = Parts([_DOCSTRING.sub(r"\g<1>\n\n\g<2>", b"".join(encoded).decode()).encode()])
    names = paths(db)
    return encoded if names is None else Parts([numbered(b"".join(encoded), f"{names.generated}/{name}")])


def _encoded(db: Database, layout: str, shards: int, name: str) -> tuple[Parts, bool]:
    """A file in parts, and whether it contains the quotes of a docstring."""
    filled = outline(db, layout, shards, name)
    quotes = QUOTES in "".join("\n" if isinstance(part, Blocks) else part for part in filled)
    listed = [(at, block(db, *at)) for at in blocks(db, layout, shards, name)]
    encoded: list[bytes | memoryview] = []
    place = 0
    for part in filled:
        if isinstance(part, Blocks) and part.marks == SORTED:
            encoded.append(ordered(db, layout, shards, name, part.family, part.place).encode())
        elif isinstance(part, Blocks):
            texts = [(at, each[place]) for at, each in listed]
            for _, between, own in joined(texts):
                encoded += (between, own)
            quotes = quotes or any(each.quotes for _, each in texts)
            place += 1
        else:
            encoded.append(part.encode())
    return Parts(encoded), quotes


@query
def made(db: Database, layout: str, shards: int, name: str) -> Made:
    """Size and digests of a generated file."""
    encoded, sha256 = contents(db, layout, shards, name), hashlib.sha256()
    for part in encoded:
        sha256.update(part)
    return Made(encoded.size, encoded.digest, sha256.digest())


@query
def stage(db: Database, layout: str, shards: int) -> int:
    """Validates all parts of all generated files; returns their number."""
    digests = [db.digest(parts, layout, shards, name) for name in db.names(files, layout, shards)]
    if is_described(db):
        from pipeline.stages.layered.checks import checked

        digests.append(db.digest(checked))
    if any(FAMILIES[name].unit == "operator" for name in families(db)):
        from pipeline.stages.operators import stage as aten

        digests.append(db.digest(aten))
    backends = [name for name in families(db) if FAMILIES[name].unit == "backend"]
    return len(digests) + len([db.digest(backend_checked, name) for name in backends])


@query
def backend_checked(db: Database, family: str) -> int:
    """Reports what is wrong with the backend that a family prints: its file, declarations that its functions need,
    kernels that are not defined. Returns the number of units."""
    from pipeline.stages import backend

    kind = FAMILIES[family]
    assert isinstance(kind, BackendFamily)
    for number, error in kind.check_nodes(backend.own_nodes(db), release(db)):
        backend.report_node(db, number, error)
    if not backend.checked(db):
        return 0
    pieces = {unit.name: text(db, family, unit.name) for unit in units(db, family)}
    for unit, own_pieces in pieces.items():
        if own_pieces.get(kind.declares):
            backend.check_declaration(db, unit, own_pieces[kind.declares])
    declared = {unit: "".join(own.get(piece, "") for piece in kind.kernels) for unit, own in pieces.items()}
    backend.check_kernels(db, declared)
    return len(pieces)
