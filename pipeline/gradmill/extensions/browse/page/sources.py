"""The spec files and headers as pages: every line and every entry has an anchor, and leads to what it defines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape

from gradmill.extensions.browse.page.callers import entry_refs, header_lines
from gradmill.extensions.browse.page.html.highlight import yaml_line
from gradmill.extensions.browse.page.names import entry_anchor, helper_page, operator_page_of
from gradmill.extensions.browse.page.relations import members, refs
from gradmill.model.entries import by_key
from gradmill.model.layers import role_of
from gradmill.problems.problem import Role
from gradmill.query.database import Database
from gradmill.query.query import table
from gradmill.specs.spec_set import ROLES
from gradmill.stages import specs
from gradmill.stages.schemas import GENERATED, entry_of
from gradmill.stages.set import header_label, source, source_keys, spec_set

BLOCK = 200  # lines per block; a browser lays out a block when it scrolls into view
_NAME = re.compile(r"[\w:]+(?:\.\w+)?(?=\()")  # the operator in the first line of an entry


def source_files(db: Database) -> dict[str, list[str]]:
    """The files with entries, each with its keys: a description may list a file in several layers."""
    keys = (key for role in ROLES for key in source_keys(db, role))
    return by_key((source(db, key).file or spec_set(db).files[key], key) for key in keys)


def entries_at(db: Database, keys: list[str]) -> dict[str, int]:
    """The first line of each entry of a file, by anchor."""
    starts: dict[str, int] = {}
    for role in dict.fromkeys(map(role_of, keys)):
        in_file = {entry for entry, key in specs.keys_of(db, role).items() if key in keys}
        starts |= {entry_anchor(entry): line for entry, line in specs.lines(db, role).items() if entry in in_file}
    return starts


@table
def owners(db: Database, role: Role) -> dict[str, str]:
    """The page and the anchor of what each entry defines."""
    if role == "derivatives":
        found = entry_refs(db)
    else:
        links = refs(db)
        shown = (name for page in db.names(members) for name in members.item(db, page) or ())
        found = {entry_of(name): links[name] for name in shown if not name.startswith(GENERATED)}
    return {entry: f"{operator_page_of(ref.page)}.html#{ref.anchor}" for entry, ref in found.items()}


def blocks(db: Database, keys: list[str]) -> list[str]:
    """The lines of a file as HTML, in blocks."""
    text = specs.current_text(db, keys[0]) or ""
    links: dict[str, str] = {}
    for role in dict.fromkeys(map(role_of, keys)):
        if role in ("native", "derivatives"):
            links |= {entry_anchor(entry): link for entry, link in owners(db, role).items()}
    starts: dict[int, str] = {}
    for anchor, line in entries_at(db, keys).items():
        starts.setdefault(line, anchor)
    return _in_blocks(list(_lines(text.split("\n"), starts, links)))


def _in_blocks(lines: list[str]) -> list[str]:
    return ["\n".join(lines[at : at + BLOCK]) + "\n" for at in range(0, len(lines), BLOCK)]


def header_blocks(db: Database, header: str) -> list[str]:
    """The lines of a header as HTML, in blocks. Declared helpers lead to their pages."""
    text = (db.input(header_label(header)) or b"").decode("utf-8", "replace")
    starts = by_key((line, anchor) for anchor, line in header_lines(db, header).items())
    return _in_blocks(
        [
            _numbered(number, _declared(escape(line, quote=False), starts.get(number, ())))
            for number, line in enumerate(text.split("\n"), 1)
        ]
    )


def _declared(line: str, anchors: Iterable[str]) -> str:
    for anchor in anchors:
        name = anchor.partition("-")[0]
        link = f'<a id="{escape(anchor)}" class="to" href="../{helper_page(name)}.html">{name}</a>'
        line = re.sub(rf"(?<![\w>\"/]){re.escape(name)}(?=\s*\()", link, line, count=1)
    return line


def _lines(lines: list[str], starts: Mapping[int, str], links: Mapping[str, str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        marked = yaml_line(line)
        if number in starts:
            anchor = starts[number]
            link = links.get(anchor)
            inner = _linked(marked, link) if link else marked
            marked = f'<b id="{escape(anchor)}">{inner}</b>'
        yield _numbered(number, marked)


def _linked(line: str, link: str) -> str:
    name = _NAME.search(line)
    if name is None:
        return line
    return f'{line[: name.start()]}<a class="to" href="../{link}">{name.group()}</a>{line[name.end() :]}'


def _numbered(number: int, line: str) -> str:
    return f'<a id="L{number}" href="#L{number}">{number}</a>{line}'
