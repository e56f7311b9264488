"""What a formula calls, which constants it names, and whether its brackets are closed: read in one pass, as C++.

Templates are not parsed: whether `<` compares or opens a list of types, only a compiler knows. Where it stands among
arguments, these are not counted.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pipeline.cpp.expression import Parsed
from pipeline.model.regex import regex

# Whatever is repeated here is taken at once and never given back: see `pipeline.rules.derivatives.suspicion`.
_PIECE = regex(
    r"""
    (?P<skip>"(?:\\.|[^"\\])*+(?:"|\Z)|'(?:\\.|[^'\\])*+(?:'|\Z)|/\*.*?(?:\*/|\Z)|//[^\n]*+|\.?\d[\w.]*+)
  | (?P<before>(?:\.|->|::)\s*+)?(?P<name>~?[A-Za-z_]\w*+)(?P<call>\s*+\()?
  | (?P<mark>[()\[\]{},<])
    """,
    re.VERBOSE | re.DOTALL,
)
# A declaration: a type, white space and references, and the name that is declared.
_DECLARED = regex(
    r"""
    (?<![\w:<>])[:<>]*+\w[\w:<>]*+
    (?:\s++[&*]*+|\s*+[&*]++\s++[&*]*+)
    ([A-Za-z_]\w*+)\s*+(?=[=;:,)])
    """,
    re.VERBOSE,
)
_BOUND = regex(r"\bauto\s*+(?:&{1,2}\s*+)?\[([^\[\]]*+)\]")
_PAIRS = {")": "(", "]": "[", "}": "{"}
UNCOUNTED = -1


class Use(NamedTuple):
    """A name, and what it is used as."""

    name: str
    start: int
    before: str  # what it hangs on: `.`, `->`, `::`, or nothing
    called: bool
    arguments: int = UNCOUNTED  # of a call


class Read(NamedTuple):
    """What is in a formula."""

    uses: list[Use]
    open: tuple[str, int] | None  # the first bracket without a partner, and where it stands


class _Frame:
    """An open bracket."""

    __slots__ = ("commas", "mark", "start", "template", "use")

    def __init__(self, mark: str, start: int, use: int = -1) -> None:
        self.mark, self.start, self.use = mark, start, use
        self.commas, self.template = 0, False


def read_uses(formula: str) -> Read:
    """All names of a formula, and the brackets around them."""
    uses: list[Use] = []
    stack: list[_Frame] = []
    wrong: tuple[str, int] | None = None
    for match in _PIECE.finditer(formula):
        name, mark = match["name"], match["mark"]
        if name:
            if match["call"]:
                stack.append(_Frame("(", match.end() - 1, len(uses)))
            uses.append(Use(name, match.start("name"), (match["before"] or "").strip(), bool(match["call"])))
        elif mark is None:
            continue
        elif mark in "([{":
            stack.append(_Frame(mark, match.start()))
        elif mark in _PAIRS:
            if stack and stack[-1].mark == _PAIRS[mark]:
                _close(formula, stack.pop(), match.start(), uses)
            elif wrong is None:
                wrong = mark, match.start()
        elif stack:
            stack[-1].commas += mark == ","
            stack[-1].template |= mark == "<"
    if wrong is None and stack:
        wrong = stack[-1].mark, stack[-1].start
    return Read(uses, wrong)


def uses_of(parsed: Parsed) -> list[Use]:
    """The same names of a formula that is parsed whole."""
    uses: list[Use] = []
    place: dict[int, int] = {}
    for node in parsed.nodes:
        if node.kind == "call":
            at = place.get(id(node.parts[0]))
            if at is not None:
                uses[at] = uses[at]._replace(called=True, arguments=len(node.parts) - 1)
        elif node.kind in ("name", "member"):
            before, name = "." if node.kind == "member" else "", node.name
            if ":" in name:
                before, name = "::", name.rpartition("::")[2].strip()
            place[id(node)] = len(uses)
            uses.append(Use(name, node.end - len(name), before, False))
    return uses


def _close(formula: str, frame: _Frame, end: int, uses: list[Use]) -> None:
    """Counts the arguments of a call whose bracket is closed."""
    if frame.use >= 0 and not frame.template:
        count = frame.commas + 1 if formula[frame.start + 1 : end].strip() else 0
        uses[frame.use] = uses[frame.use]._replace(arguments=count)


def declared(formula: str) -> set[str]:
    """The names that a formula declares itself."""
    bound = {name.strip() for group in _BOUND.findall(formula) for name in group.split(",")}
    return bound.union(_DECLARED.findall(formula))
