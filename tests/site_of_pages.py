"""A folder of pages, read as a browser would: what each links to, which anchors it has, what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

_VOID = frozenset(("meta", "input", "br", "link", "path", "rect", "circle", "wbr"))
_INLINE = frozenset(("a", "b", "i", "span", "small", "ins", "del", "kbd"))  # no word ends with these


class Page(HTMLParser):
    """One page: its text, its anchors, what it refers to. Elements are closed in order."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.ids: list[str] = []
        self.links: list[str] = []
        self._open: list[str] = []
        self._said: list[str] = []
        self.source = path.read_text()
        self.feed(self.source)
        self.close()
        assert self._open == [], f"{path}: {self._open} is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self._said += [] if tag in _INLINE else [" "]
        if tag not in _VOID:
            self._open.append(tag)
        self.ids += [values["id"] or ""] if "id" in values else []
        self.links += [values[name] or "" for name in ("href", "src") if name in values]

    def handle_endtag(self, tag: str) -> None:
        self._said += [] if tag in _INLINE else [" "]
        if tag not in _VOID:
            assert self._open, f"{self.path}: </{tag}>"
            assert self._open.pop() == tag, f"{self.path}: </{tag}>"

    def handle_data(self, data: str) -> None:
        self._said.append(data)

    @property
    def text(self) -> str:
        """What it says, in words with one space between."""
        return " ".join("".join(self._said).split())


class Site:
    """The folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def pages(self) -> dict[str, Page]:
        """All pages by name."""
        found = sorted(self.folder.rglob("*.html"))
        return {path.relative_to(self.folder).as_posix(): Page(path) for path in found}

    def page(self, operator: str) -> Page:
        """The page of an operator."""
        return Page(self.folder / "op" / f"{operator}.html")

    def data(self, name: str) -> Any:
        """What a file of data holds."""
        text = (self.folder / name).read_text()
        return json.loads(re.sub(r"\A/\*.*?\*/\s*window\.\w+ = |;\s*\Z", "", text))

    def broken(self) -> Iterator[str]:
        """Links that lead nowhere, or out of the folder."""
        for name, page in self.pages.items():
            for link in page.links:
                file, _, anchor = link.partition("#")
                if link == "data:,":
                    continue
                target = (page.path.parent / unquote(file)).resolve() if file else page.path.resolve()
                if not target.is_relative_to(self.folder.resolve()) or not target.is_file():
                    yield f"{name}: {link}"
                elif anchor:
                    ids = self.pages[target.relative_to(self.folder.resolve()).as_posix()].ids
                    if unquote(anchor) not in ids:
                        yield f"{name}: {link}"

    def bytes(self) -> dict[str, bytes]:
        """All files."""
        found = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in found}

    def times(self) -> dict[str, int]:
        """When each file was written."""
        return {name: (self.folder / name).stat().st_mtime_ns for name in self.bytes()}
