"""Parses C++ expressions of formulas into a list of nodes, each after its operands.

Operands come earlier in the list than their node, so a walk over the list needs no recursion. Other text than plain
expressions (statements, C-style casts, deep nesting) is not parsed, and the body of a lambda is skipped. Python's
operators `**`, `@` and `if`-`else` are parsed as in Python: they are certain errors in a formula.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from msgspec import Struct

from gradmill.model.regex import regex

__all__ = ["TYPES", "Node", "Parsed", "Token", "parse", "tokens_of"]

# All repetitions are possessive, so matching takes linear time. An unclosed string or comment extends to the end.
_TOKEN = regex(
    r"""
    \s*+
    (?:(?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*+)
    |(?P<name>(?:::\s*+)?[A-Za-z_]\w*+(?:\s*+::\s*+[A-Za-z_]\w*+)*+)
    |(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*+)
    |(?P<string>"(?:\\.|[^"\\])*+")
    |(?P<char>'(?:\\.|[^'\\])*+')
    |(?P<open>["']).*
    |(?P<punctuator>[(),]|->|\+\+|--|<<=|>>=|[<>=!]=|&&|\|\||[-+*/%&|^]=|<<|>>|.)
    |\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS = ("", "comment", "name", "number", "string", "char", "open", "punctuator")  # the groups
# The types after the name of a template, before its call or construction.
TYPES = regex(r"\s*+<(?:[^<>()\[\]{};\"']|<(?:[^<>()\[\]{};\"']|<[^<>()\[\]{};\"']*+>)*+>)*+>\s*+(?=[({])")
_LEVELS = {
    operator: level
    for level, operators in enumerate(
        ("|| or", "&& and", "| bitor", "^ xor", "& bitand", "== !=", "< > <= >=", "<< >>", "+ -", "* / % @")
    )
    for operator in operators.split()
}
_UNARY = frozenset("+ - ! ~ * & ++ -- not compl".split())
_ASSIGNMENTS = frozenset("= += -= *= /= %= &= |= ^= <<= >>=".split())
_STATEMENTS = frozenset(
    """
    alignof auto break case catch class const constexpr continue delete do for goto if new operator return sizeof
    static struct switch template throw try typeid typename unsigned using while else
    """.split()
)
_ENDS = frozenset((",", ")", "]", "}"))
# Tokens that may belong to C++ which is not parsed here; tokens that may end a type.
_UNCERTAIN = frozenset(("", ".", "<", ">", "<=", ">=", "<<", ">>", "=", "#", "{"))
_TYPED = frozenset(("&", "*", "&&", "?"))
_NONE: list[Node] = []  # shared by nodes without operands
_MOST = 5000  # maximum length of a parsed formula, in characters
_DEEPEST = 40  # maximum nesting of brackets and operators


class Node:
    """A node of an expression.

    `kind` is name, number, string, char, call, member, index, group, braces, unary, binary, assign, conditional,
    python (a conditional in Python's syntax), power, or lambda. `name` is the name or the operator, without arguments
    and object. `parts` are the operands. A pass over the nodes may set `type`.
    """

    __slots__ = ("end", "kind", "name", "parts", "start", "type")

    def __init__(self, kind: str, start: int, end: int, name: str, parts: list[Node]) -> None:
        self.kind, self.start, self.end, self.name, self.parts = kind, start, end, name, parts
        self.type = ""


class Parsed(Struct):
    """The nodes of an expression; the last one is the whole expression.

    `missing`: the token that a truncated expression lacks. `stray`: a token that cannot be there, and the one before
    it. `whole`: whether nothing was skipped that may contain names.
    """

    nodes: list[Node] = []
    whole: bool = True
    missing: tuple[str, int] | None = None  # the token, and the start of the part that lacks it
    stray: tuple[Token, Token] | None = None

    @property
    def broken(self) -> bool:
        """Whether parsing stopped before the end of the text."""
        return self.missing is not None or self.stray is not None


class Token(NamedTuple):
    """A token: a comment, a name with its scopes, a number, a string, a char, an unclosed quote (`open`), or a sign."""

    kind: str
    text: str
    start: int
    end: int


class _NoExpression(Exception):
    """The text is not an expression that is parsed here."""


def tokens_of(text: str) -> list[Token]:
    """The tokens of any text; an unclosed string or comment is the last one."""
    return [
        Token(_KINDS[group], match[group], *match.span(group))
        for match in _TOKEN.finditer(text)
        if (group := match.lastindex)
    ]


def parse(text: str, tokens: Sequence[Token], variables: Collection[str]) -> Parsed | None:
    """Parses an expression; None if the text is not an expression that is parsed here.

    `tokens` are those of `text`. `variables` are names that are not templates: a `<` after one is an operator.
    """
    if len(text) > _MOST:
        return None
    parser = _Parser(text, tokens, variables)
    try:
        parser.assignment()
        if parser.text == "":
            return parser.parsed
        parser.stop()
    except _NoExpression:
        pass
    return parser.parsed if parser.parsed.broken else None


class _Parser:
    """A recursive-descent parser; operators by precedence climbing."""

    def __init__(self, source: str, tokens: Sequence[Token], variables: Collection[str]) -> None:
        self.source = source
        self.variables = variables
        self.parsed = Parsed()
        self.depth = 0
        self.tokens = [token for token in tokens if token.kind != "comment"]
        self.tokens += [Token("end", "", len(source), len(source))] * 2
        self.at = 0
        self.kind, self.text, self.start, self.end = self.tokens[0]

    def next(self) -> None:
        self.at += 1
        self.kind, self.text, self.start, self.end = self.tokens[self.at]

    def expect(self, sign: str) -> int:
        """Consumes a sign, and returns the offset of its end; stops at any other token."""
        if self.text != sign:
            self.stop()
            raise _NoExpression
        end = self.end
        self.next()
        return end

    def stop(self) -> None:
        """Records the current token as stray if it is certainly an error.

        It may instead be part of a statement, of types in angle brackets, or of a literal with a prefix or suffix.
        """
        token = self.tokens[self.at]
        before = self.tokens[self.at - 1] if self.at else token
        joined = before.end == token.start and "string" in (before.kind, token.kind)
        uncertain = token.text in _UNCERTAIN or token.text.startswith("::") or before.text in _TYPED or joined
        if uncertain or self.parsed.missing or "<" in self.source[: token.start]:
            return
        if not any(text in _STATEMENTS or text == ";" for _, text, _, _ in self.tokens):
            self.parsed.stray = token, before

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _NoExpression

    def node(self, kind: str, start: int, end: int, name: str, *parts: Node) -> Node:
        node = Node(kind, start, end, name, list(parts))
        self.parsed.nodes.append(node)
        return node

    def assignment(self) -> Node:
        if self.kind == "name" and self.tokens[self.at + 1][1] in _ENDS and self.text not in _STATEMENTS:
            return self.plain()  # most arguments are plain names
        self.deeper()
        left = self.conditional()
        if self.text in _ASSIGNMENTS and self.kind == "punctuator":
            operator = self.text
            self.next()
            right = self.assignment()
            left = self.node("assign", left.start, right.end, operator, left, right)
        self.depth -= 1
        return left

    def conditional(self) -> Node:
        left = self.binary(0)
        if self.text == "?":
            self.next()
            yes = self.assignment()
            if self.text in ("", ")", "]", "}", ","):
                self.parsed.missing = self.parsed.missing or (":", left.start)
            self.expect(":")
            no = self.assignment()
            return self.node("conditional", left.start, no.end, "?", left, yes, no)
        if self.text == "if" and self.kind == "name":
            self.next()
            condition = self.binary(0)
            self.expect("else")
            no = self.assignment()
            return self.node("python", left.start, no.end, "if", condition, left, no)
        return left

    def binary(self, least: int) -> Node:
        left = self.unary()
        while True:
            operator = self.text
            level = _LEVELS.get(operator)
            if level is None or level < least:
                return left
            self.next()
            right = self.binary(level + 1)
            left = self.node("binary", left.start, right.end, operator, left, right)

    def unary(self) -> Node:
        if self.text in _UNARY:
            operator, start = self.text, self.start
            self.deeper()
            self.next()
            operand = self.unary()
            self.depth -= 1
            return self.node("unary", start, operand.end, operator, operand)
        base = self.postfix()
        if self.text == "*" and self.tokens[self.at + 1][1] == "*" and self.end == self.tokens[self.at + 1][2]:
            self.next()
            self.next()
            self.deeper()
            exponent = self.unary()
            self.depth -= 1
            return self.node("power", base.start, exponent.end, "**", base, exponent)
        return base

    def postfix(self) -> Node:
        node = self.primary()
        while True:
            sign = self.text
            if sign == "(":
                arguments, end = self.listed(")")
                node = self.node("call", node.start, end, node.name, node, *arguments)
            elif sign == "[":
                self.next()
                inner = self.assignment()
                node = self.node("index", node.start, self.expect("]"), "", node, inner)
            elif sign == "." or sign == "->":
                self.next()
                if self.text == "template":
                    self.next()
                if self.kind != "name":
                    raise _NoExpression
                name, end = self.text, self.end
                self.next()
                node = self.node("member", node.start, end, name, node)
                if self.text == "<":
                    self.types()
            elif sign == "{" and node.kind == "name":
                items, end = self.listed("}")
                node = self.node("braces", node.start, end, node.name, *items)
            elif sign == "++" or sign == "--":
                node = self.node("unary", node.start, self.expect(sign), sign, node)
            else:
                return node

    def plain(self) -> Node:
        """A name alone."""
        node = Node("name", self.start, self.end, self.text, _NONE)
        self.parsed.nodes.append(node)
        self.next()
        return node

    def primary(self) -> Node:
        kind, text, start, end = self.kind, self.text, self.start, self.end
        if kind == "name":
            if text in _STATEMENTS:
                raise _NoExpression
            node = self.plain()
            if self.text == "<":
                self.types()
            return node
        if kind in ("number", "string", "char"):
            self.next()
            while kind == "string" and self.kind == "string":
                end = self.end
                self.next()
            return self.node(kind, start, end, text)
        if text == "(":
            self.next()
            inner = self.assignment()
            node = self.node("group", start, self.expect(")"), "", inner)
            if self.kind in ("name", "number", "string", "char") and self.text not in _LEVELS and self.text != "if":
                raise _NoExpression  # a cast
            return node
        if text == "{":
            items, end = self.listed("}")
            return self.node("braces", start, end, "", *items)
        if text == "[":
            return self.closure()
        self.stop()
        raise _NoExpression

    def types(self) -> None:
        """Skips the types of a template."""
        match = TYPES.match(self.source, self.start)
        if match is not None and self.tokens[self.at - 1][1] not in self.variables:
            self.parsed.whole = False
            while self.start < match.end():
                self.next()

    def listed(self, sign: str) -> tuple[list[Node], int]:
        """The items in brackets, and the offset of the end of the closing one."""
        self.next()
        items: list[Node] = []
        while self.text != sign:
            items.append(self.assignment())
            if self.text != sign:
                self.expect(",")
        return items, self.expect(sign)

    def closure(self) -> Node:
        """A lambda, skipped."""
        start = self.start
        self.parsed.whole = False
        while self.text != "{":
            self.skip()
        return self.node("lambda", start, self.skip(), "")

    def skip(self) -> int:
        """Skips a token, or everything in brackets; returns the offset of the end."""
        depth = 0
        while True:
            end, text = self.end, self.text
            if self.kind == "end":
                raise _NoExpression
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            self.next()
            if depth <= 0:
                return end
