"""Prints statements as lines of C++."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap

from gradmill.extensions.graphs.ir import Declare, Do, Free, Let, Return, Save, Stmt, Title, When


def lines(statements: Iterable[Stmt]) -> list[str]:
    """The C++ of statements."""
    return [line for each in statements for line in _lines(each)]


def _lines(of: Stmt) -> list[str]:
    if isinstance(of, Title):
        return [f"// {of.text}"]
    if isinstance(of, Declare):
        return wrap(f"{of.type} {', '.join(of.names)};", 116, break_long_words=False)
    if isinstance(of, Let):
        names = of.names[0] if len(of.names) == 1 else f"[{', '.join(of.names)}]"
        return [f"{of.type} {names} = {of.value.text};"]
    if isinstance(of, Save):
        return [f"saved.{of.name} = {of.value.text};"]
    if isinstance(of, Do):
        return [f"{of.call.text};{_comment(of.comment)}"]
    if isinstance(of, Return):
        return [f"return {of.value.text};"]
    if isinstance(of, Free):
        freed = f"graph::drop({', '.join(of.names)});"
        return [f"if (saved.last) {{ {freed} }}" if of.last else freed]
    if isinstance(of, When):
        otherwise = ["} else {", *_indented(of.otherwise)] if of.otherwise is not None else []
        return [f"if ({of.condition.text}) {{{_comment(of.comment)}", *_indented(of.then), *otherwise, "}"]
    return [f"{of.begin.text} {{", *_indented(of.body), f"}}{of.end};"]


def _indented(statements: Iterable[Stmt]) -> list[str]:
    return [f"  {line}" for line in lines(statements)]


def _comment(text: str) -> str:
    return f" // {text}" if text else ""
