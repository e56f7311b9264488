"""What a formula calls, which constants it names, and whether its brackets are closed: read in one pass of its tokens.

Where a formula is not parsed, only a compiler knows whether `<` compares or opens a list of types. Where it stands
among arguments, these are not counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from pipeline.cpp.expression import Token
from pipeline.model.regex import regex

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
_END = Token("end", "", 0, 0)
UNCOUNTED = -1


class Use(NamedTuple):
    """A name, and what it is used as."""

    name: str
    start: int
    scope: str  # what it is a part of: `.` of a value, `at::`, or nothing
    after: str  # the token that follows it
    arguments: int = UNCOUNTED  # of a call

    @property
    def called(self) -> bool:
        """Whether it is called."""
        return self.after == "("


class Read(NamedTuple):
    """What is in a formula."""

    uses: list[Use]
    open: tuple[str, int] | None  # the first bracket without a partner, and where it stands


class _Frame:
    """An open bracket."""

    __slots__ = ("commas", "mark", "start", "template", "use")

    def __init__(self, mark: str, start: int, use: int) -> None:
        self.mark, self.start, self.use = mark, start, use
        self.commas, self.template = 0, False


def read_uses(tokens: Sequence[Token], *, parsed: bool = False) -> Read:
    """All names of a formula, and the brackets around them. `parsed`: whether it has no templates, as is known of one
    that is parsed whole."""
    uses: list[Use] = []
    stack: list[_Frame] = []
    wrong: tuple[str, int] | None = None
    before = _END
    for token, after in pairwise([token for token in tokens if token.kind != "comment"] + [_END]):
        mark = token.text if token.kind == "mark" else ""
        if token.kind == "name":
            uses.append(_use(token, before.text, after.text))
        elif mark in ("(", "[", "{"):
            stack.append(_Frame(mark, token.start, len(uses) - 1 if mark == "(" and before.kind == "name" else -1))
        elif mark in _PAIRS:
            if stack and stack[-1].mark == _PAIRS[mark]:
                frame = stack.pop()
                if frame.use >= 0 and (parsed or not frame.template):
                    count = frame.commas + 1 if before.start > frame.start else 0
                    uses[frame.use] = uses[frame.use]._replace(arguments=count)
            elif wrong is None:
                wrong = mark, token.start
        elif stack:
            stack[-1].commas += mark == ","
            stack[-1].template |= mark.startswith("<")
        before = token
    if wrong is None and stack:
        wrong = stack[-1].mark, stack[-1].start
    return Read(uses, wrong)


def _use(token: Token, before: str, after: str) -> Use:
    scope, colons, name = token.text.rpartition("::")
    scope = "." if before in (".", "->") and not colons else "".join(scope.split()) + colons
    name = name.strip()
    return Use(name, token.end - len(name), scope, after)


def declared(formula: str) -> set[str]:
    """The names that a formula declares itself."""
    bound = {name.strip() for group in _BOUND.findall(formula) for name in group.split(",")}
    return bound.union(_DECLARED.findall(formula))
