"""Plain text for terminals and logs: a name is printed on one line, whatever characters it has.

Names come from files and command lines. A line end in a name would start a new line, and a GitHub runner may execute it
(`::error::`, and `##[error]` anywhere in a line: actions/runner, ActionCommand.cs). An escape character would move the
cursor; a direction mark would reorder the text. All code that prints a name uses these functions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from gradmill.problems.problem import SpecError

# Compiled at their first use: most runs print no such characters.
_CONTROL = "[\0-\x08\n-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"  # all but tabs
_COMMAND = r"\s*:(?=:)"
_OLD_COMMAND = "##["


def escaped(text: str) -> str:
    """The text with control characters replaced by Python's escapes."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_CONTROL, lambda match: match[0].encode("unicode_escape").decode(), text)


def line(text: str) -> str:
    """The text as one line of output, without the line end. Runners do not take it for a command."""
    text = escaped(text)
    if _OLD_COMMAND in text:
        text = text.replace(_OLD_COMMAND, r"#\x23[")
    match = re.match(_COMMAND, text) if "::" in text else None
    return f"{text[: match.end() - 1]}\\x3a{text[match.end() :]}" if match else text


def lines(texts: Iterable[str]) -> str:
    """The texts as lines of output, each escaped and with a line end."""
    return "".join(f"{line(text)}\n" for text in texts)


def json_text(encoded: bytes) -> str:
    """JSON as text with a line end. In its strings, control characters and runner commands are escaped."""
    text = encoded.decode().replace(_OLD_COMMAND, r"#\u0023[")
    if not text.isascii():
        text = re.sub(_CONTROL, lambda match: match[0] if match[0] == "\n" else f"\\u{ord(match[0]):04x}", text)
    return f"{text}\n"


def warn(text: str) -> None:
    """Writes a line to standard error."""
    sys.stderr.write(lines([text.rstrip("\n")]))


def reason(error: OSError) -> str:
    """An operating system error as one line: its file, if any, and what failed."""
    return line(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))


def text_of(error: Exception) -> str:
    """The text of an error that a run expects."""
    if isinstance(error, SpecError):
        return message_of(error)
    return reason(error) if isinstance(error, OSError) else line(str(error))


def message_of(error: SpecError) -> str:
    """An error and its `others`: each problem on a line, followed by its hint."""
    if error.rendered:
        return error.problem
    errors = [error, *error.others]
    texts = []
    for each, following in zip(errors, (*errors[1:], None)):
        texts.append(line(each.problem))
        if each.hint and (following is None or following.hint != each.hint):
            texts.append(f"  {line(each.hint)}")
    return "\n".join(texts)
