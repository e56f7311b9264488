"""Text for terminals and logs: a name is shown on one line, whatever characters it has.

Names come from files and command lines. A line end in one would begin a line of its own, which a GitHub runner may obey
(`::error::`, and `##[error]` anywhere in a line: actions/runner, ActionCommand.cs); an escape character would move the
cursor, a mark of direction would show the text in another order. Whatever prints a name prints it by these functions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from pipeline.problems.problem import SpecError

# Compiled at their first use: most runs print nothing that has such characters.
_CONTROL = "[\0-\x08\n-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"  # all but tabs
_COMMAND = r"\s*:(?=:)"
_OLD_COMMAND = "##["


def escaped(text: str) -> str:
    """A text without control characters: as Python's escapes."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_CONTROL, lambda found: found[0].encode("unicode_escape").decode(), text)


def line(text: str) -> str:
    """A text as one line of output, without its end, that no runner takes for a command."""
    text = escaped(text)
    if _OLD_COMMAND in text:
        text = text.replace(_OLD_COMMAND, r"#\x23[")
    found = re.match(_COMMAND, text)
    return f"{text[: found.end() - 1]}\\x3a{text[found.end() :]}" if found else text


def lines(texts: Iterable[str]) -> str:
    """Texts, each as a line of output."""
    return "".join(f"{line(text)}\n" for text in texts)


def json_text(encoded: bytes) -> str:
    """JSON as text with a line end; in its strings, control characters and what a runner would obey are escapes."""
    text = encoded.decode().replace(_OLD_COMMAND, r"#\u0023[")
    if not text.isascii():
        text = re.sub(_CONTROL, lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)
    return f"{text}\n"


def warn(text: str) -> None:
    """Writes a line to standard error."""
    sys.stderr.write(lines([text.rstrip("\n")]))


def reason(error: OSError) -> str:
    """An error of the system as one line: the file, if there is one, and what went wrong."""
    return line(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))


def message_of(error: SpecError) -> str:
    """An error with all that are reported with it: what is wrong, a line each, and below that what to do."""
    if error.rendered:
        return error.problem
    found = [error, *error.others]
    told = []
    for each, following in zip(found, (*found[1:], None)):
        told.append(line(each.problem))
        if each.hint and (following is None or following.hint != each.hint):
            told.append(f"  {line(each.hint)}")
    return "\n".join(told)
