"""The parts of the release's templates that files of the split layout contain: no two have the same part."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from gradmill.model.regex import regex

_BRACE = regex(r"//[^\n]*|/\*.*?\*/|\"(?:\\\\.|[^\"\\\\])*\"|\bnamespace\s+([\w:]+)\s*\{|[{}]", re.DOTALL)

# The lines that serve compiled autograd, which only frames need. Its header is an eighth of all that formulas include.
_LINES = (
    '#include "torch/csrc/dynamo/compiled_autograd.h"',
    "#include <torch/csrc/dynamo/compiled_autograd.h>",
    "using torch::dynamo::autograd::",
)
_FUNCTIONS = ("compute_output_metadata", "compiled_autograd_apply_functional")
_NEED_IT = ("dynamo", "PackedArgs", "SwapSavedVariables", "CompiledNodeArgs", *_FUNCTIONS)


def namespaces(text: str, holes: Iterable[str]) -> str:
    """The holes alone, each within the namespaces that enclose it in `text`."""
    names = "|".join(map(re.escape, holes))
    places = re.finditer(rf"\$(?:({names})\b|\{{({names})\}})", text, re.ASCII) if names else ()
    return "\n".join([_within(text[: place.start()], place[1] or place[2]) for place in places])


def _within(before: str, hole: str) -> str:
    stack: list[str] = []
    for match in _BRACE.finditer(before):
        if match.group() == "}":
            stack.pop()
        elif match.group().endswith("{"):
            stack.append(match.group(1) or "")
    opened = [name for name in stack if name]
    begin = "".join(f"namespace {name} {{\n\n" for name in opened)
    end = "".join(f"\n\n}} // namespace {name}" for name in reversed(opened))
    return f"{begin}${{{hole}}}{end}\n"


def formulas(text: str, holes: Iterable[str]) -> str:
    """The template of Nodes without compiled autograd. If the rest of the template needs it, the whole template."""
    rest = "\n".join([line for line in text.split("\n") if not line.startswith(_LINES)])
    for function in _FUNCTIONS:
        rest = _without_function(rest, function)
    return text if any(word in rest for word in _NEED_IT) else rest


def _without_function(text: str, name: str) -> str:
    """A text without the static function of this name and the comment above it."""
    at = text.find(f" {name}(")
    begin, end = text.rfind("\nstatic ", 0, at) + 1, text.find("\n}\n", at)
    if at < 0 or not begin or end < 0 or any(mark in text[begin:at] for mark in ";{}"):
        return text
    lines = text[:begin].split("\n")[:-1]
    while lines and lines[-1].startswith("//"):
        lines.pop()
    return "\n".join([*lines, text[end + 3 :].removeprefix("\n")])


PARTS: dict[str, Callable[[str, Iterable[str]], str]] = {"namespaces": namespaces, "formulas": formulas}
