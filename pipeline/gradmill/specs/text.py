"""Decodes the bytes of a spec file, within limits that stop a hostile file from exhausting memory or time."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from typing import TYPE_CHECKING

from gradmill.problems.problem import TextError

if TYPE_CHECKING:
    import ast

MAX_BYTES = 16 << 20  # upstream's largest file has 0.7 MB

ASCII = bytes(range(0x20, 0x7F)) + b"\t\n\r"  # without control characters
_NOT_TEXT = r"[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def decode_text(data: bytes, *, keep_mark: bool = False) -> str:
    """The UTF-8 text with `\\n` line ends; `keep_mark` keeps a byte-order mark. Raises a TextError at bad bytes."""
    if len(data) > MAX_BYTES:
        raise TextError(f"the file has {len(data)} bytes", f"the limit for a spec file is {MAX_BYTES}", 1, 1)
    try:
        text = (data if keep_mark else data.removeprefix(BOM_UTF8)).decode()
    except UnicodeDecodeError as error:
        data = error.object
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        problem = f"byte 0x{data[error.start]:02x} is not UTF-8"
        raise TextError(problem, "save the file as UTF-8", line, column) from error
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def parse_python(text: str) -> ast.Module:
    """The syntax tree of a module. Raises a TextError for text that is not Python."""
    import ast  # few sets have such files

    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
        raise TextError(f"not Python: {getattr(error, 'msg', error)}", "correct it", line, column) from error


def assigned(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """The only name that a statement assigns to, and the value; None for any other statement."""
    import ast

    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    name = targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""
    return (name, value) if name and value is not None else None


def python_error(node: ast.AST, problem: str, hint: str) -> TextError:
    """An error at a node of a module."""
    return TextError(problem, hint, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)


def check_characters(text: str) -> None:
    """Raises a TextError at the first control character."""
    odd = re.search(_NOT_TEXT, text)
    if odd is not None:
        at = odd.start()
        problem = f"control character U+{ord(odd.group()):04X}"
        raise TextError(problem, "remove it", text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))


def conflict_marker(text: str, marks: str = "<>=") -> TextError | None:
    """An error for the first conflict marker at the start of a line; None if there is none.

    A marker repeats one of the characters `marks` seven times.
    """
    if not any(f"\n{7 * mark}" in text or text.startswith(7 * mark) for mark in marks):
        return None
    match = re.search(rf"^([{marks}])\1{{6}}(?=[ \t\r\n]|\Z)[^\r\n]*", text, re.MULTILINE)
    if match is None:
        return None
    problem = f"'{match.group()[:7]}' is a conflict marker: a merge left it here"
    hint = "resolve the conflict, and delete the lines '<<<<<<<', '=======' and '>>>>>>>'"
    error = TextError(problem, hint, text.count("\n", 0, match.start()) + 1, 1)
    error.needle = match.group()
    error.rule = "conflict-marker"
    return error
