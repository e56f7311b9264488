"""`#line` directives: compilers and debuggers then report a formula at its line in the YAML file.

A plan is rendered with markers around its formulas. When the text is placed in its file, these become directives: one
before the line where a formula begins names its place in the YAML file; one after the formula restores the numbering of
the generated file. The code around formulas keeps its own line numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gradmill.model.regex import regex

_NAME, _BEGIN, _END = "\x01", "\x02", "\x03"  # characters that no spec file can have
_MARKS = regex(f"{_NAME}[^{_BEGIN}]*{_BEGIN}|{_END}")
_BACK = "#line \x04"  # a placeholder for the directive that needs the line number in the whole file


def with_markers(formula: str, field: str) -> str:
    """A formula with markers that name its field of the entry."""
    return f"{_NAME}{field}{_BEGIN}{formula}{_END}"


def without_markers(text: str) -> str:
    """A text without its markers."""
    return _MARKS.sub("", text)


def directed(text: str, place: Callable[[str], tuple[str, int]]) -> str:
    """A unit's text with directives in place of markers. `place` returns the file and the line of a field."""
    return "\n".join(_directed(text.split("\n"), place)) if _BEGIN in text else text


def _directed(lines: list[str], place: Callable[[str], tuple[str, int]]) -> Iterator[str]:
    for line in lines:
        before, mark, rest = line.partition(_NAME)
        if mark:
            field, _, rest = rest.partition(_BEGIN)
            file, number = place(field)
            yield directive(number, file)
        yield (before + rest).replace(_END, "")
        if _END in line:
            yield _BACK


def numbered(data: bytes, path: str) -> bytes:
    """A whole file with the directives that restore its numbering. `path`: its name in them."""
    lines = data.split(b"\n")
    back = _BACK.encode()
    return b"\n".join(
        directive(number + 1, path).encode() if line.endswith(back) else line for number, line in enumerate(lines, 1)
    )


def directive(line: int, path: str) -> str:
    """The directive that gives the next line this number and file."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {line} "{escaped}"'
