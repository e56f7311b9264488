"""A folder of pages, read as a browser would: what each links to, which anchors it has, what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from project import files_in

_TAG = re.compile(r"<[a-z][^>]*>")
_ATTRIBUTE = re.compile(r'\s(id|href|src)="([^"]*)"')
_VOID = frozenset(("meta", "input", "br", "link", "path", "rect", "circle", "wbr"))
_INLINE = frozenset(("a", "b", "i", "span", "small", "ins", "del", "kbd", "wbr"))  # no word ends with these


class Page:
    """One page: its anchors, what it refers to, what it says."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.source = path.read_text()
        result = [match for tag in _TAG.findall(self.source) for match in _ATTRIBUTE.findall(tag)]
        self.ids = [unescape(value) for name, value in result if name == "id"]
        self.links = [unescape(value) for name, value in result if name != "id"]

    @cached_property
    def text(self) -> str:
        """What it says, in words with one space between. Its elements must be closed in order."""
        return _Text(self.source).text


class _Text(HTMLParser):
    def __init__(self, source: str) -> None:
        super().__init__()
        self._open: list[str] = []
        self._parts: list[str] = []
        self.feed(source)
        self.close()
        assert self._open == [], f"{self._open} is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._parts += [] if tag in _INLINE else [" "]
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._parts += [] if tag in _INLINE else [" "]
        if tag not in _VOID:
            assert self._open, f"</{tag}>"
            assert self._open.pop() == tag, f"</{tag}>"

    def handle_data(self, data: str) -> None:
        self._parts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self._parts).split())


class Site:
    """The folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def pages(self) -> dict[str, Page]:
        """All pages by name."""
        result = sorted(self.folder.rglob("*.html"))
        return {path.relative_to(self.folder).as_posix(): Page(path) for path in result}

    @cached_property
    def _anchors(self) -> dict[Path, set[str]]:
        return {page.path.resolve(): set(page.ids) for page in self.pages.values()}

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
                within = target.is_relative_to(self.folder.resolve()) and target.is_file()
                if not within or (anchor and unquote(anchor) not in self._anchors[target]):
                    yield f"{name}: {link}"

    def bytes(self) -> dict[str, bytes]:
        """All files."""
        return files_in(self.folder)

    def times(self) -> dict[str, int]:
        """When each file was written."""
        return {name: (self.folder / name).stat().st_mtime_ns for name in self.bytes()}
