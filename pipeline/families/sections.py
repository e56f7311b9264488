"""The C++ text of an output family, for one release.

A text file is cut into sections by lines that read `//// name, since 2.7`. For a release, the newest section of
each name that is not newer than the release counts.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from pipeline.families.template import Template
from pipeline.model.regex import regex
from pipeline.releases import Release, newest_at

_SECTION = regex(r"^//// (\w+), since ([\d.]+)\n", re.MULTILINE)


class Text:
    """A text file of this folder. It is read while its module is loaded, as code is: whether both are what the run
    began with is looked at after that."""

    def __init__(self, name: str) -> None:
        text = (Path(__file__).parent / name).read_text(encoding="utf-8")
        pieces = _SECTION.split(text)[1:]
        self.versions: dict[str, dict[str, str]] = {}
        for section, since, found in zip(pieces[::3], pieces[1::3], pieces[2::3]):
            self.versions.setdefault(section, {})[since] = found

    def of(self, release: Release) -> dict[str, Template]:
        """The sections for a release."""
        return _sections(self, release.version, release.trims_lines)

    def composed(self, release: Release, frame: str, body: str) -> Template:
        """The section `frame` with the section `body`, which has no holes of its own, filled into its hole `body`."""
        return _composed(self, release.version, release.trims_lines, frame, body)


@cache
def _composed(text: Text, version: str, trim: bool, frame: str, body: str) -> Template:
    found = _sections(text, version, trim)
    holes = {hole: f"${{{hole}}}" for hole in found[frame].names}
    return Template(found[frame].fill({**holes, "body": found[body].fill({})}), trim=trim)


@cache
def _sections(text: Text, version: str, trim: bool) -> dict[str, Template]:
    newest = {section: newest_at(version, versions) for section, versions in text.versions.items()}
    return {
        section: Template(text.versions[section][at], trim=trim) for section, at in newest.items() if at is not None
    }
