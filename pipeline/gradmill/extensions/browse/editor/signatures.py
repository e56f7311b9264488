"""The signatures of the call around the cursor in a formula: a helper's declarations, an operator's schemas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from gradmill.cpp.expression import Token, tokens_of
from gradmill.cpp.header import parameters_of
from gradmill.cpp.overloads import SYMINT
from gradmill.extensions.browse.editor.cursor import Cursor
from gradmill.extensions.browse.editor.outline import entry_above, formula_of, is_formula
from gradmill.lints.uses import use_of
from gradmill.model.native import NativeFunction
from gradmill.query.database import Database
from gradmill.reports.helpers import Helper, all_helpers
from gradmill.rules.native.python_names import OUT
from gradmill.stages import schemas

_OPEN, _CLOSE = ("(", "[", "{"), (")", "]", "}")
_SELF = "self"


class Signature(Struct, frozen=True):
    """One overload: its text, and the columns of its parameters in this text."""

    label: str
    parameters: tuple[tuple[int, int], ...]
    what: str = ""


class Signatures(Struct, frozen=True):
    """The overloads of a call, the number of its argument at the cursor, and the first overload that has so many."""

    overloads: tuple[Signature, ...]
    argument: int
    active: int


class OpenCall(Struct, frozen=True):
    """An unclosed call before the cursor."""

    name: str
    scope: str  # `.` of a value, `at::`, or nothing
    argument: int


def signatures(db: Database, cursor: Cursor, lines: Sequence[str]) -> Signatures | None:
    """The signatures of the call around the cursor; None if there is no known one."""
    call = call_in(_formula_before(cursor, lines))
    if call is None:
        return None
    overloads = tuple(dict.fromkeys(_overloads(db, call, deprecated=cursor.role == "deprecated")))
    wanted = (n for n, each in enumerate(overloads) if len(each.parameters) > call.argument)
    return Signatures(overloads, call.argument, next(wanted, 0)) if overloads else None


def _formula_before(cursor: Cursor, lines: Sequence[str]) -> str:
    """The text of the formula around the cursor up to there, "" if the cursor is in none."""
    if cursor.role not in ("derivatives", "deprecated"):
        return ""
    block = entry_above([*lines[: cursor.line], cursor.text[: cursor.column]], cursor.line)
    if block is None or not block.body.fields:
        return ""
    field = block.body.fields[-1]
    below = cursor.line > block.line + field.last
    if not is_formula(cursor.role, block.body, field) or (below and cursor.column <= field.start):
        return ""
    return formula_of(block.body, field).text


def call_in(text: str) -> OpenCall | None:
    """The innermost call that is not closed in a text; None if there is none."""
    open_calls: list[tuple[OpenCall | None, int]] = []  # and the number of the argument
    tokens = [token for token in tokens_of(text) if token.kind != "comment"]
    for place, token in enumerate(tokens):
        if token.kind == "open":
            break
        if token.kind != "punctuator":
            continue
        if token.text in _OPEN:
            open_calls.append((_called(tokens[:place]) if token.text == "(" else None, 0))
        elif token.text in _CLOSE:
            open_calls = open_calls[:-1]
        elif token.text == "," and open_calls:
            call, argument = open_calls.pop()
            open_calls.append((call, argument + 1))
    for call, argument in reversed(open_calls):
        if call is not None:
            return OpenCall(call.name, call.scope, argument)
    return None


def _called(before: Sequence[Token]) -> OpenCall | None:
    """The function that a bracket after these tokens calls; None if it groups."""
    if not before or before[-1].kind != "name":
        return None
    use = use_of(before[-1], before[-2].text if len(before) > 1 else "", "(")
    return OpenCall(use.name, use.scope, 0)


def _overloads(db: Database, call: OpenCall, *, deprecated: bool) -> Iterator[Signature]:
    if call.scope not in ("", ".", "at::"):
        return
    if not call.scope and not deprecated:
        helpers = all_helpers(db).get(call.name, [])
        yield from map(_of_helper, helpers)
        if any(helper.header for helper in helpers):
            return
    name = call.name.removesuffix(SYMINT)
    names = {name, name.removesuffix(OUT)} if deprecated else {name}
    for key, head in schemas.all_heads(db):
        if head.unqualified not in names or (head.kind == "out") != (deprecated and name.endswith(OUT)):
            continue
        if head.method if call.scope == "." else head.callable:
            native = schemas.function(db, key)
            if native is not None:
                yield _of_operator(head.schema, native, method=call.scope == ".")


def _of_helper(helper: Helper) -> Signature:
    if not helper.header:
        return Signature(f"{helper.name}(…)", (), helper.source)
    text, start = helper.text, helper.text.find("(") + 1
    places = tuple((start + a, start + b) for a, b in parameters_of(text[start:]))
    return Signature(text.rstrip(";"), places, helper.header)


def _of_operator(schema: str, native: NativeFunction, *, method: bool) -> Signature:
    """The schema of an operator, with its parameters in the order of C++. A method's `self` is none."""
    at, places = schema.index("("), {}
    for argument in native.func.arguments:
        at = schema.find(str(argument), at)
        if not (method and argument.name == _SELF):
            places[argument] = (at, at + len(str(argument)))
        at += len(str(argument))
    order = sorted(places, key=lambda argument: argument not in native.func.out)
    return Signature(schema, tuple(places[argument] for argument in order), " or ".join(native.variants))
