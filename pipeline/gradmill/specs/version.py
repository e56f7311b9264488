"""The PyTorch release of a spec set, read from the files that may name it."""

from __future__ import annotations

import os
import re

from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError
from gradmill.specs.location import Location

_VERSION = regex(r"^__version__\s*(?::.*)?=\s*['\"]([^'\"]+)['\"]", re.MULTILINE)


def version_files(folder: str, packages: str) -> tuple[str, ...]:
    """The files that may name the release: RELEASE in the folder, and torch's version.py in `packages` unless ""."""
    own = os.path.join(folder, "RELEASE")
    return (own, os.path.join(packages, "torch", "version.py")) if packages else (own,)


def version_in_one_of(paths: tuple[str, ...]) -> tuple[str, str]:
    """The release, and the first file that names it; both empty if no file does. The first one has a single line, as
    RELEASE or version.txt."""
    first, *others = paths
    text = _text_of(first)
    if text is not None:
        return only_line(text, first), first
    for path in others:
        version = version_in(_text_of(path) or "")
        if version:
            return version, path
    return "", ""


def version_in(text: str) -> str:
    """The `__version__` in the text of a Python file; "" if it has none."""
    match = _VERSION.search(text)
    return match.group(1) if match else ""


def _text_of(path: str) -> str | None:
    """The text of a file; None if it cannot be read."""
    try:
        return Location(path).read().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def only_line(text: str, path: str) -> str:
    """The only line of `text`, "" if it is blank. Raises a SpecError for the file `path` if there are more lines."""
    lines = text.strip().splitlines()
    if len(lines) > 1:
        raise SpecError(f"{path}: more than one line", "write one release, such as 2.13.0")
    return lines[0] if lines else ""
