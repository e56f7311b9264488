"""The spec files as pages: every line and every entry has an anchor."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from pipeline.model.layers import role_of
from pipeline.query.database import Database
from pipeline.reports.page.html.highlight import yaml_line
from pipeline.reports.page.names import entry_anchor
from pipeline.specs.spec_set import ROLES
from pipeline.stages import specs
from pipeline.stages.layered.files import is_layered
from pipeline.stages.set import source, source_keys, spec_set

BLOCK = 200  # lines per block; a browser lays out a block when it scrolls into view


def source_files(db: Database) -> dict[str, list[str]]:
    """The files with entries, each with its keys: a description may list a file in several layers."""
    keys: dict[str, list[str]] = {}
    for role in ROLES:
        for key in source_keys(db, role):
            keys.setdefault(source(db, key).file or spec_set(db).files[key], []).append(key)
    return keys


def entries_at(db: Database, keys: list[str]) -> dict[str, int]:
    """The first line of each entry of a file, by anchor."""
    starts: dict[str, int] = {}
    for role in dict.fromkeys(map(role_of, keys)):
        in_file = {entry for entry, key in specs.keys_of(db, role).items() if key in keys}
        starts |= {entry_anchor(entry): line for entry, line in specs.lines(db, role).items() if entry in in_file}
    return starts


def blocks(db: Database, keys: list[str]) -> list[str]:
    """The lines of a file as HTML, in blocks."""
    text = _text(db, keys[0])
    starts: dict[int, str] = {}
    for anchor, line in entries_at(db, keys).items():
        starts.setdefault(line, anchor)
    lines = list(_lines(text.split("\n"), starts))
    return ["\n".join(lines[at : at + BLOCK]) + "\n" for at in range(0, len(lines), BLOCK)]


def _text(db: Database, key: str) -> str:
    """The text that entries' lines refer to: with the layer's diffs applied."""
    if is_layered(key):
        from pipeline.stages.layered.texts import layer_text

        return layer_text(db, key) or ""
    return specs.text(db, key) or ""


def _lines(lines: list[str], starts: dict[int, str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        marked = yaml_line(line)
        if number in starts:
            marked = f'<b id="{escape(starts[number])}">{marked}</b>'
        yield f'<a id="L{number}" href="#L{number}">{number}</a>{marked}'
