"""Which PyTorch release a spec set says it is of: the files that may tell, and what they tell."""

from __future__ import annotations

import os
import re

from pipeline.model.regex import regex
from pipeline.problems.problem import SpecError
from pipeline.specs.location import Location

_VERSION = regex(r"^__version__\s*(?::.*)?=\s*['\"]([^'\"]+)['\"]", re.MULTILINE)


def version_files(folder: str, packages: str) -> tuple[str, ...]:
    """What may say the release: RELEASE in the folder, or torch's version.py, where it belongs to `packages`."""
    own = os.path.join(folder, "RELEASE")
    return (own, os.path.join(packages, "torch", "version.py")) if packages else (own,)


def version_in_one_of(paths: tuple[str, ...]) -> tuple[str, str]:
    """The release, and the first file that says it; empty where no file does."""
    line = version_in_line(paths[0])
    if line is not None:
        return line, paths[0]
    for path in paths[1:]:
        found = version_in(_text_of(path) or "")
        if found:
            return found, path
    return "", ""


def version_in(text: str) -> str:
    """The `__version__` that a Python file gives, "" where it gives none."""
    found = _VERSION.search(text)
    return found.group(1) if found else ""


def version_in_line(path: str) -> str | None:
    """What a file says that is one line, a RELEASE or a version.txt; None where there is no such file."""
    text = _text_of(path)
    return None if text is None else only_line(text, path)


def _text_of(path: str) -> str | None:
    """The text of a file, None when there is none that can be read."""
    try:
        return Location(path).read().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def only_line(text: str, path: str) -> str:
    """What such a file says: one release on one line."""
    lines = text.strip().splitlines()
    if len(lines) > 1:
        raise SpecError(f"{path}: more than one line", "write one release, such as 2.13.0")
    return lines[0] if lines else ""
