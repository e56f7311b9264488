"""Formulas, schemas and YAML as HTML with highlighted words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from html import escape

from pipeline.reports.page.calls import WORD, Call, call_at

_CODE = re.compile(
    rf"""(?P<string>"(?:\\.|[^"\\])*")
      | (?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<number>\b\d[\w.]*)
      | (?P<word>{WORD})
      | (?P<rest>(?:(?!//|/\*)[^\w"])+|.)""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS = frozenset("auto bool const else false for if int int64_t double nullptr return true template".split())
_GRADIENT = re.compile(r"grads?|grad_\w+|grads_\w+")
_RESULT = re.compile(r"results?|result\d+")
_CALL = re.compile(r"\s*(<[\w:, ]*>)?\(")

LONG = 10  # letters of a word that may wrap

Link = Callable[[Call], str]  # the address of what is called, "" for none


def formula(text: str, inputs: Iterable[str] = (), link: Link = lambda call: "") -> str:
    """Highlights a formula: gradients, inputs with their tangents and primals, results, called functions. `link`
    returns the address of what a call leads to."""
    known = frozenset(inputs)

    def address(start: int, end: int) -> str:
        call = call_at(text, start, end)
        return "" if call is None or call.name in known else link(call)

    def kind(word: str, start: int, end: int) -> str:
        if word in _KEYWORDS:
            return "k"
        if _CALL.match(text, end):
            return "f"
        base = word.removesuffix("_t").removesuffix("_p")
        if _GRADIENT.fullmatch(word) and word not in known:
            return "g"
        if base in known:
            return "t" if word.endswith("_t") and word not in known else "v"
        if _RESULT.fullmatch(base):
            return "r"
        return ""

    return _marked(text, kind, address)


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


def _marked(text: str, kind: Callable[[str, int, int], str], address: Callable[[int, int], str] | None = None) -> str:
    parts = []
    for match in _CODE.finditer(text):
        word, group = match.group(), match.lastgroup
        mark = kind(word, match.start(), match.end()) if group == "word" else _MARKS.get(group or "", "")
        shown = _breakable(word) if group == "word" else escape(word)
        link = address(match.start(), match.end()) if address is not None and mark == "f" else ""
        if link:
            parts.append(f'<a class=f href="{escape(link)}">{shown}</a>')
        else:
            parts.append(f"<i class={mark}>{shown}</i>" if mark else shown)
    return "".join(parts)


def _breakable(word: str) -> str:
    """A word as HTML; a long one may wrap at its underscores."""
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
