"""Formulas that YAML cuts off: ` #` begins a comment, which is not part of the value."""

from __future__ import annotations

from collections.abc import Iterator, Set

from gradmill.model.autograd import Definition
from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError

BY_A_CUT = ("unclosed-bracket", "cut-off")  # rules of suspicions that a comment after the formula may explain
# What an expression goes on with. Names and `[` begin notes as well, and so does a comparison without a `?` after it.
_ON = r"(?:/(?![/*])|[-+*%.?&|^]|[<>=!][^\n]*\?)"
_MAY_GO_ON = regex(rf"[ \t]#(?=[# \t]*+{_ON})")
_GOES_ON = regex(rf"#[# \t]*+(?P<rest>{_ON}.*)")
_WORD = regex(r"\w+")
_CUT_OFF = "the formula is cut off: ' #' begins a comment"
_READS_ON = f"{_CUT_OFF} that reads as its continuation"


def cut_off(text: str, suspicion: SpecError) -> SpecError:
    """A suspicion about the end of a formula in the text of its entry. If a comment follows, that is the error
    instead."""
    from gradmill.problems.locate import comment_after  # reads YAML

    follows = comment_after(text, suspicion.field)
    return _cut_off(suspicion.field, _CUT_OFF, "put the formula in quotes") if follows else suspicion


def reading_on(text: str, definition: Definition) -> Iterator[SpecError]:
    """The comments after formulas of an entry that are complete without them, but read as their continuation."""
    for key, row in ((key, row) for key, rows in definition.dispatch for row in rows):
        field = ("dispatch", key, row.key) if definition.by_key else (row.key,)
        if _reads_on(text, field, row.formula):
            yield _cut_off(field, _READS_ON, "remove '#', or reword the comment")


def may_go_on(text: str) -> bool:
    """Whether a line has a comment behind text that may read as its continuation."""
    ends = (match.start() for match in _MAY_GO_ON.finditer(text))
    return any(text[text.rfind("\n", 0, end) + 1 : end].replace("#", "").strip() for end in ends)


def _cut_off(field: tuple[str, ...], problem: str, hint: str) -> SpecError:
    from gradmill.problems.locate import COMMENT

    return SpecError(problem, hint, field=field, needle=COMMENT, rule="cut-off")


def _reads_on(text: str, field: tuple[str, ...], formula: str) -> bool:
    """Whether a comment follows a formula, and both are one expression of names that the entry has."""
    from gradmill.cpp.expression import tokens_of
    from gradmill.lints.suspicion import GRADIENTS, unknown_names
    from gradmill.lints.uses import read_uses
    from gradmill.problems.locate import comment_after

    comment = comment_after(text, field)
    match = _GOES_ON.match(comment)
    words = {*GRADIENTS, "result", *_WORD.findall(text.replace(comment, ""))}
    known = words.union(*((f"{word}_p", f"{word}_t") for word in words))
    if match is None or not _is_expression(formula, known):
        return False
    whole = f"{formula} {match['rest']}"
    return _is_expression(whole, known) and not unknown_names(whole, read_uses(tokens_of(whole)), known)


def _is_expression(text: str, names: Set[str]) -> bool:
    from gradmill.cpp.expression import parse, tokens_of

    parsed = parse(text, tokens_of(text), names)
    return parsed is not None and parsed.whole and not parsed.broken
