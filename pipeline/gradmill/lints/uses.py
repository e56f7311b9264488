"""The calls and constants of a formula, and whether its brackets are closed: one pass over its tokens.

If a formula cannot be parsed, only a compiler knows whether `<` compares or opens a list of types. Arguments are not
counted if it occurs among them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from gradmill.cpp.expression import Token
from gradmill.model.regex import regex

# A declaration: a type, white space and references, and the name that is declared. Only right behind the type a `*` is
# a pointer's: `(self * other)` is a product.
_DECLARED = regex(
    r"""
    (?<![\w:<>])[:<>]*+\w[\w:<>]*+
    (?:\s++&*+|[&*]++\s++|\s++&++\s++)
    ([A-Za-z_]\w*+)\s*+(?=[=;:,)])
    """,
    re.VERBOSE,
)
_BOUND = regex(r"\bauto\s*+(?:&{1,2}\s*+)?\[([^\[\]]*+)\]")
_PAIRS = {")": "(", "]": "[", "}": "{"}
_END = Token("end", "", 0, 0)
UNCOUNTED = -1


class Use(NamedTuple):
    """A use of a name."""

    name: str
    start: int
    scope: str  # its qualifier: `.` of a value, `at::`, or nothing
    after: str  # the token that follows it
    arguments: int = UNCOUNTED  # the number of a call's arguments

    @property
    def called(self) -> bool:
        """Whether the name is called."""
        return self.after == "("


class Uses(NamedTuple):
    """The names that a formula uses, and its first unbalanced bracket."""

    uses: list[Use]
    open: tuple[str, int] | None  # the first bracket without a partner, and its place


class _Frame(Struct):
    """An open bracket."""

    sign: str
    start: int
    use: int  # the place of the call's name among the uses; -1 if nothing is called
    commas: int = 0
    template: bool = False


def read_uses(tokens: Sequence[Token], *, parsed: bool = False) -> Uses:
    """All uses of names in a formula. `parsed`: it was parsed completely, and so has no templates."""
    uses: list[Use] = []
    stack: list[_Frame] = []
    wrong: tuple[str, int] | None = None
    before = _END
    for token, after in pairwise([token for token in tokens if token.kind != "comment"] + [_END]):
        sign = token.text if token.kind == "punctuator" else ""
        if token.kind == "name":
            uses.append(use_of(token, before.text, after.text))
        elif sign in ("(", "[", "{"):
            stack.append(_Frame(sign, token.start, len(uses) - 1 if sign == "(" and before.kind == "name" else -1))
        elif sign in _PAIRS:
            if stack and stack[-1].sign == _PAIRS[sign]:
                frame = stack.pop()
                if frame.use >= 0 and (parsed or not frame.template):
                    count = frame.commas + 1 if before.start > frame.start else 0
                    uses[frame.use] = uses[frame.use]._replace(arguments=count)
            else:
                wrong = wrong or (sign, token.start)
        elif stack:
            stack[-1].commas += sign == ","
            stack[-1].template |= sign.startswith("<")
        before = token
    unclosed = (stack[-1].sign, stack[-1].start) if stack else None
    return Uses(uses, wrong or unclosed)


def use_of(token: Token, before: str, after: str) -> Use:
    """The use of a name, between two tokens."""
    scope, colons, name = token.text.rpartition("::")
    scope = "." if before in (".", "->") and not colons else "".join(scope.split()) + colons
    name = name.strip()
    return Use(name, token.end - len(name), scope, after)


def declared(formula: str) -> set[str]:
    """The names that a formula declares, in lambdas for example."""
    bound = {name.strip() for group in _BOUND.findall(formula) for name in group.split(",")}
    return bound.union(_DECLARED.findall(formula))
