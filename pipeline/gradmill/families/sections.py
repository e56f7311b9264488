"""The C++ text of an output family, for one release.

A line `//// name` begins a section; `//// name, since 2.7` one that older releases lack, or a whole other text. Within
a section, a line that begins with `//<2.7 ` is of older releases, one with `//>=2.7 ` of 2.7 and later ones. The
sections of a file of phrases do not end with a line end, and their holes take values as they are: no line is indented.
A section without a line for a release is empty: that release does not print it.
"""

from __future__ import annotations

import os
import re
from functools import cache

from gradmill.families.template import Template
from gradmill.model.regex import regex
from gradmill.releases import Release, is_at_least, newest_at

_SECTION = regex(r"^//// (\w+)(?:, since ([\d.]+))?\n", re.MULTILINE)
_LINE = regex(r"^//(?=[<>])(?:>=([\d.]+))?(?:<([\d.]+))? (.*\n)", re.MULTILINE)
_ALWAYS = "0"

Sections = dict[str, Template]  # by name


class Text:
    """A text file of this folder. Its module reads it on import, so it is an input like code: the run later checks that
    neither has changed since it began."""

    def __init__(self, name: str | os.PathLike[str], *, phrases: bool = False) -> None:
        self.phrases = phrases
        with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
            text = file.read()
        pieces = _SECTION.split(text)[1:]
        self.versions: dict[str, dict[str, str]] = {}
        for section, since, body in zip(pieces[::3], pieces[1::3], pieces[2::3]):
            self.versions.setdefault(section, {})[since or _ALWAYS] = body

    def body(self, section: str, since: str, version: str) -> str:
        """A section's text for a release."""

        def chosen(line: re.Match[str]) -> str:
            since, until, text = line.groups()
            late = since is None or is_at_least(version, since)
            return text if late and (until is None or not is_at_least(version, until)) else ""

        body = _LINE.sub(chosen, self.versions[section][since])
        return body.removesuffix("\n") if self.phrases else body

    def of(self, release: Release) -> Sections:
        """The sections for a release, by name."""
        return _sections(self, release.version, release.trims_lines)


@cache
def _sections(text: Text, version: str, trim: bool) -> Sections:
    newest = {section: newest_at(version, versions) for section, versions in text.versions.items()}
    return {
        section: Template(text.body(section, at, version), trim=trim, blocks=not text.phrases)
        for section, at in newest.items()
        if at is not None
    }
