"""The last IR of a graph: statements that know which variables they use. Passes work on these; `text/` prints them.

An expression is C++ in which each use of a variable is a part of its own, so that nobody searches for names in C++.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import Formatter

from msgspec import Struct


class Name(Struct, frozen=True):
    """A use of a variable: `x`, `grad_of_x`, or of what is saved, `saved.x`."""

    text: str


class Code(Struct, frozen=True):
    """A C++ expression."""

    parts: tuple[str | Name, ...]  # no two texts in a row

    @property
    def text(self) -> str:
        """The expression as C++."""
        return "".join([part.text if isinstance(part, Name) else part for part in self.parts])

    @property
    def uses(self) -> list[str]:
        """The variables that it uses, in order."""
        return [part.text for part in self.parts if isinstance(part, Name)]

    @property
    def is_primary(self) -> bool:
        """Whether it is a variable or a word, which needs no parentheses and costs nothing to repeat."""
        return len(self.parts) == 1 and (isinstance(self.parts[0], Name) or self.parts[0].isidentifier())


def variable(name: str) -> Code:
    """The expression for a variable: its name."""
    return Code((Name(name),))


def code(template: str, *values: Code | str) -> Code:
    """An expression: `template` with a value for each `$`."""
    first, *texts = template.split("$")
    return _joined([first, *(part for value, text in zip(values, texts, strict=True) for part in (value, text))])


def separated(values: Iterable[Code | str], separator: str = ", ") -> Code:
    """Expressions with a separator between them."""
    return _joined([part for value in values for part in (separator, value)][1:])


def filled(template: str, values: Mapping[str, Code | str]) -> Code:
    """An expression: `template` with the value for each `{name}`."""
    parts: list[Code | str] = []
    for text, name, _, _ in Formatter().parse(template):
        parts += [text] if name is None else [text, values[name]]
    return _joined(parts)


def _joined(values: Iterable[Code | str]) -> Code:
    parts: list[str | Name] = []
    for value in values:
        for part in (value,) if isinstance(value, str) else value.parts:
            if parts and isinstance(part, str) and isinstance(parts[-1], str):
                parts[-1] += part
            elif part != "":
                parts.append(part)
    return Code(tuple(parts))


# ---- statements


class Title(Struct, frozen=True):
    """A comment that begins a step of the forward."""

    text: str


class Declare(Struct, frozen=True):
    """Declares variables without values."""

    type: str
    names: tuple[str, ...]


class Let(Struct, frozen=True):
    """Declares variables with the results of a call or a computation."""

    type: str
    names: tuple[str, ...]
    value: Code


class Save(Struct, frozen=True):
    """Saves a value for the backward."""

    name: str
    value: Code


class Do(Struct, frozen=True):
    """A call for its effect: a check, a formula, an addition to a gradient."""

    call: Code
    comment: str = ""


class Return(Struct, frozen=True):
    """Returns from a lambda, or from a function."""

    value: Code


class Free(Struct, frozen=True):
    """Frees variables after their last use; `last`: saved values, if no other backward follows."""

    names: tuple[str, ...]
    last: bool = False


class When(Struct, frozen=True):
    """Statements that run if a condition is true: mostly that an input needs a gradient."""

    condition: Code
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...] | None = None
    comment: str = ""


class Within(Struct, frozen=True):
    """Statements in a lambda that is passed to a call: `begin` is what comes before these, `end` what comes after."""

    begin: Code
    body: tuple[Stmt, ...]
    end: str


Stmt = Title | Declare | Let | Save | Do | Return | Free | When | Within


def uses(statements: Iterable[Stmt]) -> dict[str, None]:
    """The variables that statements declare, read or write, in the order of the text."""
    names: list[str] = []
    for each in statements:
        if isinstance(each, Declare):
            names += each.names
        elif isinstance(each, Let):
            names += [*each.names, *each.value.uses]
        elif isinstance(each, Save):
            names += [f"saved.{each.name}", *each.value.uses]
        elif isinstance(each, Do):
            names += each.call.uses
        elif isinstance(each, Return):
            names += each.value.uses
        elif isinstance(each, Free):
            names += each.names
        elif isinstance(each, When):
            names += [*each.condition.uses, *uses(each.then), *uses(each.otherwise or ())]
        elif isinstance(each, Within):
            names += [*each.begin.uses, *uses(each.body)]
    return dict.fromkeys(names)


def merged(statements: Iterable[Stmt]) -> list[Stmt]:
    """The statements, with those under the same condition in one `When`, if they follow each other."""
    result: list[Stmt] = []
    for each in statements:
        last = result[-1] if result else None
        if (
            isinstance(each, When)
            and isinstance(last, When)
            and (each.condition, last.otherwise) == (last.condition, None)
        ):
            result[-1] = When(each.condition, (*last.then, *each.then))
        else:
            result.append(each)
    return result
