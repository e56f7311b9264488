"""What the files of the split layout have of the release's templates: all but what another of them has."""

from __future__ import annotations

import re
from collections.abc import Callable

from pipeline.model.regex import regex

_BRACE = regex(r"//[^\n]*|/\*.*?\*/|\"(?:\\\\.|[^\"\\\\])*\"|\bnamespace\s+([\w:]+)\s*\{|[{}]", re.DOTALL)

# How frames go through compiled autograd. Formulas never do, and its header is an eighth of all that they include.
_HEADER = r'^#include ["<]torch/csrc/dynamo/compiled_autograd\.h[">]\n'
_NAME = r"^using torch::dynamo::autograd::\w+;\n"
_FUNCTIONS = "compute_output_metadata|compiled_autograd_apply_functional"
_FUNCTION = rf"(?:^//[^\n]*\n)*^static\b[^;{{}}]*\b(?:{_FUNCTIONS})\([^;{{]*\{{\n.*?^\}}\n\n?"
_COMPILED_AUTOGRAD = regex(f"{_HEADER}|{_NAME}|{_FUNCTION}", re.MULTILINE | re.DOTALL)
_NEEDS_IT = regex(rf"\b(?:{_FUNCTIONS}|dynamo|PackedArgs|SwapSavedVariables|CompiledNodeArgs)\b")


def namespaces(text: str, hole: str) -> str:
    """The hole alone, inside the namespaces that are open around it."""
    stack: list[str] = []
    for match in _BRACE.finditer(text.partition(f"${{{hole}}}")[0]):
        if match.group() == "}":
            stack.pop()
        elif match.group().endswith("{"):
            stack.append(match.group(1) or "")
    opened = [name for name in stack if name]
    begin = "".join(f"namespace {name} {{\n\n" for name in opened)
    end = "".join(f"\n\n}} // namespace {name}" for name in reversed(opened))
    return f"{begin}${{{hole}}}{end}\n"


def formulas(text: str, hole: str) -> str:
    """The template of Nodes without compiled autograd; all of it, where anything else of it needs that."""
    found = _COMPILED_AUTOGRAD.sub("", text)
    return text if _NEEDS_IT.search(found) else found


PARTS: dict[str, Callable[[str, str], str]] = {"namespaces": namespaces, "formulas": formulas}
