"""The files of a family, changed by a description: names, templates, slots, shards."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from gradmill.families.family import ATEN, DEFINITION, REGISTRATION, Layout, generated_comment, library_piece
from gradmill.families.family import Family as Kind
from gradmill.families.file import CUT, Content, File, Pieces, pieces_in
from gradmill.families.overrides import key_of
from gradmill.families.sharded import EVERYTHING
from gradmill.model.regex import regex
from gradmill.model.units import Unit
from gradmill.releases.model import Release
from gradmill.specs.layers.description import Family, OutputFile, Slot


def stands_apart(kind: Kind, rules: Family, own: Iterable[str]) -> bool:
    """Whether registrations of other namespaces than PyTorch's get separate blocks: they do if the description does
    not place them. `own`: the names of the set's own templates."""
    to = kind.registered
    if to is None or to.hole in rules.slots:
        return False
    if to.by_key:  # the family writes these blocks: its template has none
        return not rules.slots and not rules.file.get(to.template, OutputFile()).slots
    return to.template not in own


def layout_of(layout: Layout, rules: Family, namespaces: Sequence[str]) -> Layout:
    """A layout with the shards of a description. `namespaces`: those with separate blocks."""
    return replace(
        layout,
        count=rules.shards,
        synthesized=rules.foreach_bindings,
        libraries=tuple(namespaces) or (ATEN,),
        registered=rules.keys,
        slotted=tuple(name for name, each in rules.file.items() if each.slots) + (("",) if rules.slots else ()),
    )


def described_files(kind: Kind, units: Sequence[Unit], layout: Layout, release: Release, rules: Family) -> list[File]:
    """The files of a family under a description."""
    upstream_files = kind.files(units, layout, release)
    wanted = [file for file in upstream_files if not rules.files or file.made_of in rules.files]
    files = [_changed(file, kind, rules, layout) for file in wanted if rules.everything or file.shard != EVERYTHING]
    upstreams = {file.made_of for file in upstream_files}
    names = tuple(unit.name for unit in units)
    added = (File(name, name, {"shard_id": ""}, names) for name in rules.file if name not in upstreams)
    return [*files, *(_changed(file, kind, replace(rules, slots={}), layout) for file in added)]


def located(file: File, templates: Mapping[str, str]) -> File:
    """A file with the set's own template instead of upstream's, and the comment that names it: by default in its own
    folder."""
    comment = file.comment.replace("${template}", file.made_of.rpartition("/")[2])
    own = templates.get(file.template, "")
    if own and not comment:
        folder, name = os.path.split(own)
        comment = generated_comment(os.path.basename(folder) if os.path.isabs(own) else folder or os.curdir, name)
    return replace(file, template=own or file.template, comment=comment)


def _changed(file: File, kind: Kind, rules: Family, layout: Layout) -> File:
    """One file, changed. Upstream fills its template for one library: those after the first have holes of their own. Of
    upstream's pieces, some are parts of one (`cut`), or begin with the place of their entry (`origin`)."""
    own = rules.file.get(file.made_of, OutputFile())
    file = replace(file, comment=own.comment or rules.comment)
    if not file.template:
        return file
    origins = any(each.origin for each in file.pieces.values())
    named = (each.name.partition(CUT) for each in file.pieces.values())
    cut = next((before + CUT for before, within, _ in named if within), "")
    holes: dict[str, Content] = {}
    for hole, each in {**rules.slots, **own.slots}.items():
        slot = Slot(each) if isinstance(each, str) else each
        name = cut + key_of(file.template if hole in own.slots else "", hole)
        origin = origins and slot.piece.partition(" ")[0] == DEFINITION
        holes[hole] = Pieces(name, slot.between, origin) if slot.piece else slot.text or ""
    to = kind.registered
    if to is not None and to.hole in file.pieces and to.hole not in holes:
        pieces = {f"{to.hole}_{library}": library_piece(REGISTRATION, library) for library in layout.libraries[1:]}
        holes |= pieces_in(pieces)
    return replace(file, holes={**file.holes, **holes}, raw=own.raw)


_LIBRARY = regex(r"TORCH_LIBRARY_IMPL\(\w+, ([^\n]*\n(?:(?!\}).*\n)*\}\n)")


def with_libraries(text: str, file: File, kind: Kind) -> str:
    """The text of a template with a block for each library after the first that the file has holes for."""
    hole, library = kind.registered.hole if kind.registered is not None else "", library_piece(REGISTRATION, "")
    names = (each.name for each in file.pieces.values())
    libraries = [name.removeprefix(library) for name in names if name.startswith(library)]

    def copied(match: re.Match[str]) -> str:
        before, is_here, after = match[1].partition(f"${{{hole}}}")
        blocks = (f"\nTORCH_LIBRARY_IMPL({each}, {before}${{{hole}_{each}}}{after}" for each in libraries if is_here)
        return "".join((match[0], *blocks))

    return _LIBRARY.sub(copied, text) if libraries else text
