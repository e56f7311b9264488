"""Formulas, schemas and YAML as HTML with highlighted words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from html import escape
from types import MappingProxyType

from gradmill.cpp.expression import tokens_of
from gradmill.reports.calls import Call, calls_at

_KEYWORDS = frozenset("auto bool const else false for if int int64_t double nullptr return true template".split())
_GRADIENT = re.compile(r"grads?|grad_\w+|grads_\w+")
_RESULT = re.compile(r"results?|result\d+")

LONG = 24  # letters of a word that may not fit in a line of a phone
_AFTER, _BEFORE = frozenset("([{,;?"), frozenset((".", "->"))  # marks after and before which a line may end
_CLOSING = frozenset(")]}")

Link = Callable[[Call], str]  # the address of what is called, "" for none


def formula(text: str, inputs: Iterable[str] = (), link: Link = lambda call: "") -> str:
    """Highlights a formula: gradients, inputs with their tangents and primals, results, called functions. `link`
    returns the address of what a call leads to."""
    known = frozenset(inputs)
    addresses = {end: link(call) if call.kind and call.name not in known else "" for end, call in calls_at(text)}

    def kind(word: str, start: int, end: int) -> str:
        if word in _KEYWORDS:
            return "k"
        if end in addresses:
            return "f"
        base = word.removesuffix("_t").removesuffix("_p")
        if _GRADIENT.fullmatch(word) and word not in known:
            return "g"
        if base in known:
            return "t" if word.endswith("_t") and word not in known else "v"
        if _RESULT.fullmatch(base):
            return "r"
        return ""

    return _marked(text, kind, addresses)


def plain(text: str) -> str:
    """A formula without links, whose lines end between its words."""
    return _marked(text, lambda word, start, end: "")


_TYPES = frozenset(
    """Tensor Scalar int float bool str SymInt SymBool Generator Dimname Storage Stream Device DeviceIndex Layout
    MemoryFormat ScalarType QScheme ConstQuantizerPtr complex""".split()
)


def schema(text: str) -> str:
    """Highlights a schema: its name, types, arguments, defaults."""
    name, bracket, rest = text.partition("(")

    def kind(word: str, start: int, end: int) -> str:
        if word in _TYPES:
            return "y"
        if word in ("True", "False", "None"):
            return "n"
        return "v" if rest[start - 1 : start] == " " and rest[end : end + 1] in (",", ")", "=") else ""

    return f"<b>{escape(name)}</b>{bracket}{_marked(rest, kind)}"


_MARKS = {"string": "s", "number": "n", "comment": "c"}


_NONE: Mapping[int, str] = MappingProxyType({})


def _marked(text: str, kind: Callable[[str, int, int], str], addresses: Mapping[int, str] = _NONE) -> str:
    """The text with its words marked. `addresses`: where called words lead to, by their ends; "" for no link."""
    parts, at, before = [], 0, ""
    for token in tokens_of(text):
        space = text[at : token.start]
        ends = token.text in _BEFORE or (before in _AFTER and token.text not in _CLOSING)
        parts.append("<wbr>" if ends and not space else escape(space))
        at, before = token.end, token.text
        is_word = token.kind == "name"
        mark = kind(token.text, token.start, token.end) if is_word else _MARKS.get(token.kind, "")
        if is_word and len(token.text) > LONG:
            mark = f"{mark} w".strip()
        elif token.text == "->":
            mark = "o"
        shown = _shown(token.text) if is_word else escape(token.text)
        classes = f'"{mark}"' if " " in mark else mark
        if mark[:1] == "f" and addresses.get(token.end):
            parts.append(f'<a class={classes} href="{escape(addresses[token.end])}">{shown}</a>')
        else:
            parts.append(f"<i class={classes}>{shown}</i>" if mark else shown)
    return "".join((*parts, escape(text[at:])))


def _shown(word: str) -> str:
    """A word as HTML. Only a long one wraps, at its underscores: it is on a line of its own then."""
    return word.replace("_", "_<wbr>") if len(word) > LONG else word


_LINE = re.compile(r"^(?P<before>\s*(?:- )?)(?:(?P<key>[\w, ]+)(?P<colon>:(?=\s|$)))?(?P<value>[^\n]*)$", re.MULTILINE)


def yaml_line(line: str) -> str:
    """Highlights a line of YAML: comments and keys."""
    if line.lstrip().startswith("#"):
        return f"<i class=c>{escape(line, quote=False)}</i>"
    match = _LINE.match(line)
    if match is None or match["key"] is None:
        return escape(line, quote=False)
    return f"{match['before']}<i class=k>{match['key']}</i>:{escape(match['value'], quote=False)}"


def yaml(text: str) -> str:
    """Highlights several lines of YAML."""
    return "\n".join(map(yaml_line, text.split("\n")))
