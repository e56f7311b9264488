"""Renders the texts of a description for a function.

A text is the first of its alternatives that selects the function. `${name}` in it is a value of the item that it is
for, a value of the function, or another text.
"""

from __future__ import annotations

import re

from pipeline.cpp.literals import string_literal
from pipeline.families.backends.wrappers import dense
from pipeline.families.overrides import selects
from pipeline.families.own_files.items import ITEM_WORDS, NO_ITEM, Item
from pipeline.families.own_files.values import KEY, Values
from pipeline.model.regex import regex
from pipeline.releases.model import Release
from pipeline.specs.layers.description import Text

HOLE = regex(r"\$\{(\w+)\}")


def render(plan: Values, release: Release) -> dict[str, str]:
    """The pieces: those texts that slots take. Raises a SpecError for a value that the function does not have. What is
    wrong in a description is left as it is: checks of the description report it."""
    return {name: _text(name, plan, NO_ITEM, ()) for name in plan.of.wanted}


def _text(name: str, plan: Values, item: Item, above: tuple[str, ...]) -> str:
    """A text for a function, and for an item if it is within the text of one. `above`: the texts that it is within."""
    facts, words = plan.of.facts, _words_of(plan, item)
    alternatives = plan.of.texts.get(name, ()) if name not in above else ()
    chosen = next((each for each in alternatives if selects(each.of, facts, words)), None)
    if chosen is None:
        return ""
    above = (*above, name)
    whole = _of_each(chosen, plan, above) if chosen.each else _filled(chosen.text, plan, item, above)
    if chosen.dense:
        whole = dense(whole, plan.release)
    if chosen.quoted:
        whole = string_literal(whole)
    if not whole:
        return _filled(chosen.empty, plan, item, above)
    return f"{_filled(chosen.before, plan, item, above)}{whole}{_filled(chosen.after, plan, item, above)}"


def _words_of(plan: Values, item: Item) -> tuple[str, ...]:
    """The words that are true. Those of items are about the item, also if they may be about a function."""
    return plan.words if item is NO_ITEM else (*item.words, *(word for word in plan.words if word not in ITEM_WORDS))


def _of_each(text: Text, plan: Values, above: tuple[str, ...]) -> str:
    """A text for each item of a list; items whose text is empty are left out."""
    items = [(of, item) for of, item in plan.items(text.each) if selects(text.where, of.of.facts, item.words)]
    texts = [own for of, item in items if (own := _filled(text.text, of, item, above))]
    if text.sorted:
        texts = sorted(set(texts))
    return text.between.join(texts[:1] if text.first else texts)


def _filled(text: str, plan: Values, item: Item, above: tuple[str, ...]) -> str:
    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name in item.values:
            return item.values[name]
        if name.startswith(KEY):
            return plan.of.keys.get(name.removeprefix(KEY), "")
        return _text(name, plan, item, above) if name in plan.of.texts else plan.value(name, match[0])

    return HOLE.sub(value, text)
