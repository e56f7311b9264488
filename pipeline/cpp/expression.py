"""C++ expressions, as formulas are: text to a list of nodes, operands before what is made of them.

A node's operands are nodes earlier in the list, so that whoever goes through it needs no recursion. What is no plain
expression (statements, casts in brackets, deep nesting) is not parsed, and what is within a lambda is passed over.
Python's operators `**`, `@` and `if`-`else` are parsed as Python does: a formula that has one is surely wrong.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from pipeline.model.regex import regex

__all__ = ["TYPES", "Node", "Parsed", "Token", "parse", "tokens_of"]

# Whatever is repeated here is taken at once and never given back, so that time grows with the text's length and no
# faster. What is not closed goes on to the end.
_TOKEN = regex(
    r"""
    \s*+
    (?:(?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*+)
    |(?P<name>(?:::\s*+)?[A-Za-z_]\w*+(?:\s*+::\s*+[A-Za-z_]\w*+)*+)
    |(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*+)
    |(?P<string>"(?:\\.|[^"\\])*+")
    |(?P<char>'(?:\\.|[^'\\])*+')
    |(?P<open>["']).*
    |(?P<mark>[(),]|->|\+\+|--|<<=|>>=|[<>=!]=|&&|\|\||[-+*/%&|^]=|<<|>>|.)
    |\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS = ("", "comment", "name", "number", "string", "char", "open", "mark")  # the groups
# What follows the name of a template: its types, up to what is called or made.
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
# What may be a part of more than is parsed here; what may end a type.
_UNCERTAIN = frozenset(("", ".", "<", ">", "<=", ">=", "<<", ">>", "=", "#", "{"))
_TYPED = frozenset(("&", "*", "&&", "?"))
_NONE: list[Node] = []  # operands of what has none
_MOST = 5000  # characters of a formula that is parsed
_DEEPEST = 40  # brackets and operators within one another


class Node:
    """A piece of an expression. `kind` is name, number, string, char, call, member, index, group, braces, unary,
    binary, assign, conditional, python (a conditional of Python's), power, or lambda; `name` what is named or done:
    of a call and a member the name alone. `type` is for whoever goes through the nodes."""

    __slots__ = ("end", "kind", "name", "parts", "start", "type")

    def __init__(self, kind: str, start: int, end: int, name: str, parts: list[Node]) -> None:
        self.kind, self.start, self.end, self.name, self.parts = kind, start, end, name, parts
        self.type = ""


class Parsed:
    """The nodes of an expression, the whole of it last. `missing`: what it lacks where it ends too early. `stray`: a
    token that no expression has there, and the one before it. `whole`: nothing is passed over that names something."""

    __slots__ = ("missing", "nodes", "stray", "whole")

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.whole = True
        self.missing: tuple[str, int] | None = None  # what, and the place of the piece that lacks it
        self.stray: tuple[Token, Token] | None = None

    @property
    def broken(self) -> bool:
        """Whether the text is not parsed to its end."""
        return self.missing is not None or self.stray is not None


class Token(NamedTuple):
    """A piece of a text: a comment, a name with its scopes, a number, a string, a character, what begins one and is not
    closed (`open`), a mark."""

    kind: str
    text: str
    start: int
    end: int


class _NoExpression(Exception):
    """The text is not parsed."""


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, whatever it is; nothing behind what is not closed."""
    return [
        Token(_KINDS[group], found[group], *found.span(group))
        for found in _TOKEN.finditer(text)
        if (group := found.lastindex)
    ]


def parse(text: str, tokens: Sequence[Token], variables: Collection[str]) -> Parsed | None:
    """The nodes of an expression; None where the text is none that is parsed. `variables` are no templates."""
    if len(text) > _MOST:
        return None
    parser = _Parser(text, tokens, variables)
    try:
        parser.assignment()
        if parser.text == "":
            return parser.found
        parser.stop()
    except _NoExpression:
        pass
    return parser.found if parser.found.broken else None


class _Parser:
    """Reads tokens from the left, by recursive descent; operators by their levels."""

    def __init__(self, source: str, tokens: Sequence[Token], variables: Collection[str]) -> None:
        self.source = source
        self.variables = variables
        self.found = Parsed()
        self.depth = 0
        self.tokens = [token for token in tokens if token.kind != "comment"]
        self.tokens += [Token("end", "", len(source), len(source))] * 2
        self.at = 0
        self.kind, self.text, self.start, self.end = self.tokens[0]

    def next(self) -> None:
        self.at += 1
        self.kind, self.text, self.start, self.end = self.tokens[self.at]

    def expect(self, mark: str) -> int:
        """Passes over a mark; gives where it ends."""
        if self.text != mark:
            self.stop()
            raise _NoExpression
        end = self.end
        self.next()
        return end

    def stop(self) -> None:
        """Keeps the token at which the text is no expression, where that is sure: no part of a statement, of types
        in angle brackets or of a literal with a prefix or a suffix."""
        token = self.tokens[self.at]
        before = self.tokens[self.at - 1] if self.at else token
        joined = before.end == token.start and "string" in (before.kind, token.kind)
        uncertain = token.text in _UNCERTAIN or token.text.startswith("::") or before.text in _TYPED or joined
        if uncertain or self.found.missing or "<" in self.source[: token.start]:
            return
        if not any(text in _STATEMENTS or text == ";" for _, text, _, _ in self.tokens):
            self.found.stray = token, before

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _NoExpression

    def node(self, kind: str, start: int, end: int, name: str, *parts: Node) -> Node:
        made = Node(kind, start, end, name, list(parts))
        self.found.nodes.append(made)
        return made

    def assignment(self) -> Node:
        if self.kind == "name" and self.tokens[self.at + 1][1] in _ENDS and self.text not in _STATEMENTS:
            return self.plain()  # as most arguments are
        self.deeper()
        left = self.conditional()
        if self.text in _ASSIGNMENTS and self.kind == "mark":
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
                self.found.missing = self.found.missing or (":", left.start)
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
        made = self.primary()
        while True:
            mark = self.text
            if mark == "(":
                arguments, end = self.listed(")")
                made = self.node("call", made.start, end, made.name, made, *arguments)
            elif mark == "[":
                self.next()
                inner = self.assignment()
                made = self.node("index", made.start, self.expect("]"), "", made, inner)
            elif mark == "." or mark == "->":
                self.next()
                if self.text == "template":
                    self.next()
                if self.kind != "name":
                    raise _NoExpression
                name, end = self.text, self.end
                self.next()
                made = self.node("member", made.start, end, name, made)
                if self.text == "<":
                    self.types()
            elif mark == "{" and made.kind == "name":
                items, end = self.listed("}")
                made = self.node("braces", made.start, end, made.name, *items)
            elif mark == "++" or mark == "--":
                made = self.node("unary", made.start, self.expect(mark), mark, made)
            else:
                return made

    def plain(self) -> Node:
        """A name alone."""
        made = Node("name", self.start, self.end, self.text, _NONE)
        self.found.nodes.append(made)
        self.next()
        return made

    def primary(self) -> Node:
        kind, text, start, end = self.kind, self.text, self.start, self.end
        if kind == "name":
            if text in _STATEMENTS:
                raise _NoExpression
            made = self.plain()
            if self.text == "<":
                self.types()
            return made
        if kind in ("number", "string", "char"):
            self.next()
            while kind == "string" and self.kind == "string":
                end = self.end
                self.next()
            return self.node(kind, start, end, text)
        if text == "(":
            self.next()
            inner = self.assignment()
            made = self.node("group", start, self.expect(")"), "", inner)
            if self.kind in ("name", "number", "string", "char") and self.text not in _LEVELS and self.text != "if":
                raise _NoExpression  # a cast
            return made
        if text == "{":
            items, end = self.listed("}")
            return self.node("braces", start, end, "", *items)
        if text == "[":
            return self.closure()
        self.stop()
        raise _NoExpression

    def types(self) -> None:
        """Passes over the types of a template."""
        found = TYPES.match(self.source, self.start)
        if found is not None and self.tokens[self.at - 1][1] not in self.variables:
            self.found.whole = False
            while self.start < found.end():
                self.next()

    def listed(self, mark: str) -> tuple[list[Node], int]:
        """What is listed in brackets, and where they end."""
        self.next()
        items: list[Node] = []
        while self.text != mark:
            items.append(self.assignment())
            if self.text != mark:
                self.expect(",")
        return items, self.expect(mark)

    def closure(self) -> Node:
        """A lambda, passed over."""
        start = self.start
        self.found.whole = False
        while self.text != "{":
            self.skip()
        return self.node("lambda", start, self.skip(), "")

    def skip(self) -> int:
        """Passes over a token, or all in brackets; gives where that ends."""
        depth = 0
        while True:
            end, text = self.end, self.text
            if self.kind == "end":
                raise _NoExpression
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            self.next()
            if depth <= 0:
                return end
