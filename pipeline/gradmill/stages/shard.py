"""Stage `shard:<file>`: the pieces of many units and a template to one generated file.

A file is an outline of text and blocks. A block has the pieces of a group of neighbours: an edited formula recomputes
the blocks of its own group only.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gradmill.doors import load
from gradmill.families.family import BackendFamily
from gradmill.families.file import (
    ANY,
    QUOTES,
    Ended,
    File,
    FileDigest,
    Pieces,
    SortedPieces,
    UnitTemplate,
    digest_of_file,
    ended,
    joined,
)
from gradmill.families.line_directives import directed, numbered, without_markers
from gradmill.families.rows import HOOK_FILES
from gradmill.families.table import FAMILIES
from gradmill.families.template import Hole, Template, Value, dense, indented, template_text
from gradmill.problems.problem import Problem, Role, SpecError, problem_of
from gradmill.query.database import Database
from gradmill.query.query import Parts, query, unkept
from gradmill.specs.text import conflict_marker
from gradmill.stages.arrangement import file_of, files, groups, units_of
from gradmill.stages.emit import raw_text, rendered, text, with_markers
from gradmill.stages.operator_files import digest_of_all, digests_of_each, distinct
from gradmill.stages.requested import families
from gradmill.stages.schemas import buckets
from gradmill.stages.set import is_described, paths, place_of_key, release, template_label
from gradmill.stages.templates import formatted, holes_of, template_of, wrapped
from gradmill.stages.units import origin, place_of_field
from gradmill.stages.units import units as units_of_family

ORIGIN = "o"  # a comment above a piece names its entry
LINES = "l"  # `#line` directives name the lines of its formulas
_GROUPED = frozenset(("aten", "gen_backend_stubs", "lazy_ts_backend"))  # subsets of scripts that group variants
SORTED = "s"  # the different texts of each of some pieces, sorted
WRAPPED = "w"  # the text of a template that all pieces of a unit fill


class Blocks(Struct, frozen=True, array_like=True):
    """A place in a file for one piece of each of its units, on separate lines."""

    family: str
    piece: str
    indent: str
    form: str = ""  # how each piece names its origin: ORIGIN, LINES, or both; or SORTED, and `piece` lists pieces; or
    # WRAPPED, and `piece` is the template

    @property
    def key(self) -> str:
        """What is printed there, as part of a key."""
        return f"{self.indent}|{self.form}|{self.piece}"


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
    if origins == WRAPPED:
        filled = wrapped(db, piece, family, members)
        return [(unit, indented(dense(own), indent, trim=trim)) for unit, own in filled.items()]
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
    """A piece with directives for the lines of its formulas; `own` unchanged if markers would change other text, as
    they do if a description replaces text that is partly a formula's."""
    in_markers = FAMILIES[family].piece(with_markers(db, family, unit), piece)
    if without_markers(in_markers) != own:
        return own
    return directed(in_markers, lambda field: place_of_field(db, family, unit, field))


@query
def outline(db: Database, layout: str, shards: int, name: str) -> list[str | Blocks]:
    """A file with its blocks as placeholders; empty if its template cannot be read or has an unknown hole. If each
    operator has a file, all of them in one."""
    file = file_of(db, layout, shards, name)
    if file is None:
        return []
    if file.whole:
        return [load(FAMILIES[file.family].whole).whole(db, name)]
    if file.family == HOOK_FILES:
        from gradmill.stages.layered import hooks  # only needed with them

        return [hooks.texts.item(db, name) or ""]
    try:
        template = template_of(db, file)
    except SpecError as error:
        described = error.role == "set"  # the error is in the description
        role: Role = "set" if described else "template"
        where, path = ("", place_of_key(db, error.field)) if described else (file.template, error.field)
        at = (error.problem, error.hint, path, error.needle)
        db.report(Problem(role, "", "", *at, file=where, rule=error.rule))
        return []
    _report_conflict(db, file)
    for hole in _lost(db, layout, shards, file) if file.template and not is_described(db) else ():
        problem = f"no template has the hole '{hole}': its text is printed nowhere"
        at = (problem, f"write ${{{hole}}} on its own line", (), hole)
        db.report(Problem("template", "", "", *at, warning=True, file=file.template, rule="no-hole"))
    values, places = _contents(db, layout, shards, file, template)
    filled_parts: list[str | Blocks] = []
    for part, filled in zip(template.parts, template.filled(values)):
        place = places.get(part.name) if isinstance(part, Hole) else None
        if not isinstance(part, Hole) or place is None:
            filled_parts.append(filled)
            continue
        content, indent = file.holes[part.name], part.indent or ""
        if isinstance(content, Pieces) and content.hanging:
            filled_parts.append(indent)
            indent = ""
        filled_parts.append(replace(place, indent=indent))
    return filled_parts


def _contents(
    db: Database, layout: str, shards: int, file: File, template: Template
) -> tuple[dict[str, Value], dict[str, Blocks]]:
    """The values of a file's holes, and the blocks of those that are filled later, without their indentation."""
    values: dict[str, Value] = {"generated_comment": file.comment}
    places: dict[str, Blocks] = {}
    for hole, content in file.holes.items():
        is_own, values[hole] = template.is_block(hole), ""
        if isinstance(content, (str, list)):
            values[hole] = content
        elif isinstance(content, SortedPieces):
            places[hole] = Blocks(file.family, ",".join(content.names), "", SORTED)
        elif isinstance(content, UnitTemplate):
            if is_own or hole not in template.names:
                places[hole] = Blocks(file.family, content.template, "", WRAPPED)
            else:
                members = {unit: text(db, file.family, unit) for unit in units_of(db, layout, shards, file.name)}
                filled = wrapped(db, content.template, file.family, members).values()
                values[hole] = [line for own in filled for line in own.split("\n")]
        elif isinstance(content, Pieces) and is_own:
            places[hole] = Blocks(file.family, content.name, "", _origins(db, content))
        elif isinstance(content, Pieces) and hole in template.names and not file.is_of_each:
            values[hole] = _inlined(db, file, content, units_of(db, layout, shards, file.name))
    return values, places


def _inlined(db: Database, file: File, content: Pieces, units: Sequence[str]) -> Value:
    """The pieces of all units in a hole that is not alone on its line."""
    pieces_of = raw_text if file.raw else rendered
    listed = (pieces_of(db, file.family, unit) for unit in units)
    texts = [each for own in listed for each in FAMILIES[file.family].items(own, content.name)]
    return content.between.join(filter(None, texts)) if file.raw else texts or ""


@query
def ordered(db: Database, layout: str, shards: int, name: str, family: str, place: str) -> str:
    """The different texts of each of some pieces of a file's units, sorted, for a place."""
    indent, _, pieces = place.split("|", 2)
    listed = [text(db, family, unit) for group in groups(db, layout, shards, name).values() for unit in group]
    different = [each for piece in pieces.split(",") for each in sorted({own.get(piece, "") for own in listed} - {""})]
    return "\n".join(indented(each, indent, trim=release(db).trims_lines) for each in different)


def sorted_keys(db: Database, layout: str, shards: int, name: str) -> list[tuple[Any, ...]]:
    """The keys of all sorted texts of a file."""
    holes = [part for part in _holes_of(db, layout, shards, name) if part.form == SORTED]
    return [(layout, shards, name, hole.family, hole.key) for hole in holes]


def _lost(db: Database, layout: str, shards: int, file: File) -> list[str]:
    """The holes required in a file's template that neither it nor another template of the family has."""
    homes, inner = FAMILIES[file.family].homes, Template(file.texts_with_holes).names
    filled = {*file.holes, *(hole for nested in file.nested.values() for copy in nested.copies for hole in copy)}
    wanted = {hole for hole in filled - inner if homes.get(hole, file.template) == file.template}
    lost = wanted.difference(*(holes_of(db, name) for name in (file.template, *file.other_templates)))
    if lost:
        family = (other for other in files(db, layout, shards).values() if other.family == file.family)
        lost = lost.difference(*(holes_of(db, name) for name in {other.template for other in family if other.template}))
    pieces = file.pieces
    if lost.intersection(pieces) and not units_of(db, layout, shards, file.name):
        lost = lost.difference(pieces)
    return sorted(lost - {"generated_comment"})


def _report_conflict(db: Database, file: File) -> None:
    """Reports conflict markers in a template, which torchgen would print. A line of `=` may underline a title."""
    data = db.input(template_label(file.template)) if file.template else None
    conflict = conflict_marker(template_text(data), "<>") if data else None
    if conflict is not None:
        db.report(replace(problem_of(conflict, "template", "", "", warning=True), file=file.template))


def _origins(db: Database, content: Pieces) -> str:
    """How pieces name their origin."""
    return (ORIGIN + LINES * (paths(db) is not None)) if content.origin else ""


def blocks(db: Database, layout: str, shards: int, name: str) -> list[tuple[Any, ...]]:
    """The keys of all blocks of a file."""
    holes = [part for part in _holes_of(db, layout, shards, name) if part.form != SORTED]
    if not holes:
        return []
    places = "\n".join(hole.key for hole in holes)
    return [(layout, shards, name, group, holes[0].family, places) for group in db.names(groups, layout, shards, name)]


def _holes_of(db: Database, layout: str, shards: int, name: str) -> list[Blocks]:
    """The placeholders of a file. They are read from its outline, since a file itself lists all of its units."""
    return [part for part in outline(db, layout, shards, name) if isinstance(part, Blocks)]


@query
def parts(db: Database, layout: str, shards: int, name: str) -> list[bytes]:
    """The digests of a file's parts. Computing them reports all errors of the file."""
    at = (layout, shards, name)
    if ANY in name:
        return [db.digest(outline, *at), *(db.digest(digests_of_each, *at, bucket) for bucket in db.names(buckets))]
    file = None if _holes_of(db, *at) else files.item(db, *at)
    apart = [(file.family, unit) for unit in file.units] if file is not None and file.whole else []
    return [
        *(db.digest(text, family, unit) for family, unit in apart),
        db.digest(outline, *at),
        *(db.digest(block, *key) for key in blocks(db, *at)),
        *(db.digest(ordered, *key) for key in sorted_keys(db, *at)),
    ]


@unkept
def contents(db: Database, layout: str, shards: int, name: str) -> Parts:
    """The bytes of a generated file, as parts that are written one after another. `shards`: 0 for upstream's number."""
    encoded, quotes = _encoded(db, layout, shards, name)
    if quotes:
        encoded = Parts([formatted(db, b"".join(encoded).decode()).encode()])
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
        if isinstance(part, Blocks) and part.form == SORTED:
            encoded.append(ordered(db, layout, shards, name, part.family, part.key).encode())
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
def file_digest(db: Database, layout: str, shards: int, name: str) -> FileDigest:
    """Size and digests of a generated file; if each operator has one, of all of them."""
    if ANY in name:
        return digest_of_all(db, layout, shards, name)
    return digest_of_file(contents(db, layout, shards, name))


@query
def stage(db: Database, layout: str, shards: int) -> int:
    """Validates all parts of all generated files; returns their number."""
    digests = [db.digest(parts, layout, shards, name) for name in db.names(files, layout, shards)]
    if any(ANY in name for name in db.names(files, layout, shards)):
        digests.append(db.digest(distinct, layout, shards))
    if is_described(db):
        from gradmill.stages.layered.checks import checked

        digests.append(db.digest(checked))
    if printed := _printed(db):
        from gradmill.stages.operators import BY_GEN
        from gradmill.stages.operators import stage as aten

        digests.append(db.digest(aten, printed))
        if BY_GEN in printed and release(db).has_native_aot:
            from gradmill.stages.native_aot import declarations

            digests.append(db.digest(declarations))
    backends = [name for name in families(db) if isinstance(FAMILIES[name], BackendFamily)]
    return len(digests) + len([db.digest(backend_checked, name) for name in backends])


def _printed(db: Database) -> str:
    """What ATen's rules concern of the requested files, in words; "" if no script that groups variants writes any."""
    kinds = [FAMILIES[name] for name in families(db)]
    if not any(_GROUPED.intersection(kind.row.subsets) for kind in kinds):
        return ""
    from gradmill.stages.operators import BY_GEN, HEADERS, KERNELS

    units = {kind.unit for kind in kinds}
    headers = not units.isdisjoint(("operator", "variants"))
    words = {BY_GEN: any("aten" in kind.row.subsets for kind in kinds), HEADERS: headers}
    words[KERNELS] = headers or "registration" in units
    return " ".join(word for word, is_printed in words.items() if is_printed) or "groups"


@query
def backend_checked(db: Database, family: str) -> int:
    """Reports what is wrong with the backend that a family prints: its file, declarations that its functions need,
    kernels that are not defined. Returns the number of units."""
    from gradmill.stages import backend

    kind = FAMILIES[family]
    assert isinstance(kind, BackendFamily)
    for number, error in kind.check_nodes(backend.own_nodes(db, kind.role), release(db)):
        backend.report_node(db, kind.role, number, error)
    if not backend.checked(db, kind.role):
        return 0
    pieces = {unit.name: text(db, family, unit.name) for unit in units_of_family(db, family)}
    for unit, own_pieces in pieces.items():
        if own_pieces.get(kind.declares):
            backend.check_declaration(db, unit, own_pieces[kind.declares])
    declared = {unit: "".join(own.get(piece, "") for piece in kind.kernels) for unit, own in pieces.items()}
    backend.check_kernels(db, kind.role, declared)
    return len(pieces)
