"""The C++ text of an output family, for one release.

A text file is cut into sections by lines that read `//// name, since 2.7`. For a release, the newest section of
each name that is not newer than the release counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pipeline.families.template import Template
from pipeline.releases import Release, newest_at

_SECTION = re.compile(r"^//// (\w+), since ([\d.]+)\n", re.MULTILINE)


def sections(name: str, release: Release) -> dict[str, Template]:
    """The sections of a text file of this folder for a release."""
    return _sections(name, release.version, release.trims_lines)


def composed(name: str, release: Release, frame: str, body: str) -> Template:
    """The section `frame` with the section `body`, which has no holes of its own, filled into its hole `body`."""
    return _composed(name, release.version, release.trims_lines, frame, body)


@cache
def _composed(name: str, version: str, trim: bool, frame: str, body: str) -> Template:
    found = _sections(name, version, trim)
    holes = {hole: f"${{{hole}}}" for hole in found[frame].names}
    return Template(found[frame].fill({**holes, "body": found[body].fill({})}), trim=trim)


@cache
def _sections(name: str, version: str, trim: bool) -> dict[str, Template]:
    """A pure function of files that ship with this package."""
    by_name: dict[str, dict[str, str]] = {}
    for section, since, text in _read(name):
        by_name.setdefault(section, {})[since] = text
    found = {}
    for section, versions in by_name.items():
        newest = newest_at(version, versions)
        if newest is not None:
            found[section] = Template(versions[newest], trim=trim)
    return found


def _read(name: str) -> Iterator[tuple[str, str, str]]:
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    pieces = _SECTION.split(text)[1:]
    yield from zip(pieces[::3], pieces[1::3], pieces[2::3])
