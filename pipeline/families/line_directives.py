"""`#line` directives: what a compiler or a debugger says of a formula in a generated file then names the YAML file.

A plan is printed with marks around its formulas. Once that stands in its file, the marks become directives: before the
line that a formula begins on, the place that it is from, and behind it the file's own numbering again. What is around
formulas is no author's text, and stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pipeline.model.regex import regex

_NAME, _BEGIN, _END = "\x01", "\x02", "\x03"  # characters that no spec file can have
_MARKS = regex(f"{_NAME}[^{_BEGIN}]*{_BEGIN}|{_END}")
_BACK = "#line \x04"  # stands for the directive that only a whole file can number


def marked(formula: str, field: str) -> str:
    """A formula with marks: of which field of its entry it is."""
    return f"{_NAME}{field}{_BEGIN}{formula}{_END}"


def unmarked(text: str) -> str:
    """A text without its marks."""
    return _MARKS.sub("", text)


def directed(text: str, place: Callable[[str], tuple[str, int]]) -> str:
    """A unit's text with directives in place of marks. `place` gives the file and the line of a field."""
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


def settled(data: bytes, path: str) -> bytes:
    """A whole file, whose own numbering is known now. `path`: what the file is called."""
    lines = data.split(b"\n")
    back = _BACK.encode()
    return b"\n".join(
        directive(number + 1, path).encode() if line.endswith(back) else line for number, line in enumerate(lines, 1)
    )


def directive(line: int, path: str) -> str:
    """Says that what follows is this line of this file."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {line} "{escaped}"'
