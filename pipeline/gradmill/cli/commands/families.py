"""`gradmill families`: the families of generated files; of one, what a description may change in its text, too."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from textwrap import shorten, wrap

from msgspec import Struct

from gradmill.cli.commands.report import json_text
from gradmill.cli.commands.request import Request
from gradmill.families.family import Family, Layout
from gradmill.families.rows import FAMILY_ROWS
from gradmill.families.subsets import SUBSETS
from gradmill.families.table import FAMILIES
from gradmill.problems.plain import lines
from gradmill.problems.problem import SpecError, nearest
from gradmill.releases import KNOWN, minor, resolve


class ShownFamily(Struct, frozen=True):
    """A family. Its files are those of the newest release, or named as its templates if a set determines them."""

    name: str
    about: str
    by_default: bool
    described: bool  # whether a description may change it
    subsets: list[str]  # of PyTorch's build, which have some of its files
    files: list[str]
    templates: list[str]
    pieces: list[str]  # of the text of one unit
    slots: list[str]  # the holes of templates that pieces fill


def main(request: Request) -> int:
    """Prints all families, or those that are named, or that have files of a named subset of PyTorch's build."""
    for name in request.names:
        if name not in (known := (*FAMILY_ROWS, *SUBSETS)):
            raise SpecError(f"families: no family is called '{name}'", nearest(name, known) or "families lists all")
    wanted = request.names or FAMILY_ROWS
    rows = [shown(FAMILIES[name]) for name, row in FAMILY_ROWS.items() if not {name, *row.subsets}.isdisjoint(wanted)]
    if request.variables.get("format", "text") == "json":
        sys.stdout.write(json_text(rows).decode())
    else:
        sys.stdout.write(lines(line for row in rows for line in _text(row, whole=bool(request.names))))
    return 0


def shown(family: Family) -> ShownFamily:
    """A family. What it is about is the first sentence of its module."""
    whole = " ".join((sys.modules[type(family).__module__].__doc__ or family.label).split())
    layout = Layout(slotted=("",), given={family.name: dict.fromkeys(family.lists, ())} if family.lists else {})
    files = family.files([], layout, resolve(minor(KNOWN[-1])))
    names = [file.name for file in files] or [
        name.removeprefix("ATen/").removesuffix(".in") for name in family.row.templates
    ]
    return ShownFamily(
        family.name,
        whole.removeprefix("Family: ").partition(". ")[0].rstrip("."),
        family.row.by_default,
        family.described,
        [*family.row.subsets],
        list(dict.fromkeys(f"{family.row.folder}/{name}".lstrip("/") for name in names)),
        [*family.row.templates],
        [*family.pieces],
        list(dict.fromkeys(hole for file in files for hole in file.pieces)),
    )


def _text(row: ShownFamily, *, whole: bool) -> Iterator[str]:
    """The lines of a family; with `whole` all files, and what authors of descriptions need."""
    yield from wrap(f"{row.name}{', by default' if row.by_default else ''}: {row.about}", 118)
    listed = {"files": row.files}
    if whole:
        listed["subsets"] = row.subsets
    if whole and row.described:
        listed |= {"templates": row.templates, "pieces": row.pieces, "slots": row.slots}
    for name, values in listed.items():
        text = f"{name}: {', '.join(values) or 'none'}"
        yield from (f"  {line}" for line in (wrap(text, 116) if whole else [shorten(text, 116, placeholder=" …")]))
