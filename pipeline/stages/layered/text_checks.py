"""Checks of the texts of a description for files of its own: the names and words in them, texts within texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pipeline.families.overrides import FunctionFacts, slots_of
from pipeline.families.own_files.files import OWN_FILES
from pipeline.families.own_files.items import DISPATCH, ITEM_NAMES, ITEM_WORDS, LISTS, TYPE, WITH_WORDS
from pipeline.families.own_files.text import HOLE
from pipeline.families.own_files.values import KEY, NAMES, WORDS
from pipeline.model.layers import Words, listed
from pipeline.problems.problem import nearest
from pipeline.specs.layers.description import Family, Text
from pipeline.stages.layered.problem import DescriptionProblem, Path
from pipeline.stages.layered.words import plain

FAMILY = OWN_FILES.name
VALUES = (*FunctionFacts("", "", "", ()).names, *NAMES)
_OF_ITEMS = frozenset(name for names in ITEM_NAMES.values() for name in names)
CheckSelection = Callable[[Path, Words, tuple[str, ...]], Iterator[DescriptionProblem]]


def check_texts(at: Path, family: str, rules: Family, check_selection: CheckSelection) -> Iterator[DescriptionProblem]:
    """The errors of a family's texts. `check_selection` returns those of a selection; it takes further words."""
    if family != FAMILY:
        settings = {"text": rules.text, "symint": rules.symint, "listed_schemas": rules.listed_schemas}
        for key in [key for key, value in settings.items() if value]:
            yield DescriptionProblem((*at, key), f"'{key}' is for {FAMILY}", "remove it", suspected="unused-setting")
        for name in [name for name, file in rules.file.items() if file.order]:
            path = (*at, "file", name, "order")
            yield DescriptionProblem(
                path, f"'order' is for {FAMILY}", "write it in [functions]", suspected="unused-setting"
            )
        return
    texts = {name: (each,) if isinstance(each, Text) else each for name, each in rules.text.items()}
    yield from check_selection((*at, "symint"), rules.symint, ())
    for name, alternatives in texts.items():
        if name in VALUES or name in _OF_ITEMS or name.startswith(KEY):
            yield DescriptionProblem(
                (*at, "text", name), f"'{name}' is the name of a value", "give the text another name"
            )
        for place, text in enumerate(alternatives):
            number = () if isinstance(rules.text[name], Text) else (str(place),)
            yield from _check_text((*at, "text", name, *number), text, texts, check_selection)
    used: dict[str, set[str]] = {}
    for _, _, slot in slots_of(rules):
        for piece in [piece for piece in listed(slot.piece) if piece in texts]:
            yield from _check_names(at, piece, rules, texts, frozenset(), (), used)
    for name in [name for name in texts if name not in used]:
        problem = "no slot takes the text, nor does another one"
        yield DescriptionProblem(
            (*at, "text", name), problem, "remove it, or write slots.HOLE = …", suspected="unused-setting"
        )


def _check_text(
    path: Path, text: Text, texts: Mapping[str, tuple[Text, ...]], check_selection: CheckSelection
) -> Iterator[DescriptionProblem]:
    of = text.of if isinstance(text.of, tuple) else " ".join(plain(word) for word in text.of.split())
    yield from check_selection((*path, "of"), of, (*WORDS, *ITEM_WORDS))
    for name in [name for name in text.each.split() if name not in LISTS]:
        hint = nearest(name, LISTS) or f"lists: {', '.join(LISTS)}"
        yield DescriptionProblem((*path, "each"), f"there is no list '{name}'", hint, name)
    for key, value in (("between", text.between != "\n"), ("sorted", text.sorted), ("first", text.first)):
        if value and not text.each:
            yield DescriptionProblem((*path, key), f"'{key}' is for a text with `each`", "remove it, or write each = …")
    if text.where != "all" and not set(WITH_WORDS).intersection(text.each.split()):
        yield DescriptionProblem((*path, "where"), f"'where' is for items of {', '.join(WITH_WORDS)}", "write of = …")
        return
    words = "" if DISPATCH in text.each.split() else text.where
    for word in [word.removeprefix("!") for word in words.split() if word != "|"]:
        if word not in (*ITEM_WORDS, "all") and not word.startswith(TYPE):
            hint = nearest(word, ITEM_WORDS) or f"words: {', '.join(ITEM_WORDS)}, {TYPE}Tensor"
            yield DescriptionProblem((*path, "where"), f"no argument is '{word}'", hint, word)


def _check_names(
    at: Path,
    name: str,
    rules: Family,
    texts: Mapping[str, tuple[Text, ...]],
    items: frozenset[str],
    above: tuple[str, ...],
    used: dict[str, set[str]],
) -> Iterator[DescriptionProblem]:
    """The errors of the names in a text and in those within it. `items`: the values of the item that it is for;
    `above`: the texts that it is within; `used`: each text that was checked, with the names of items."""
    if name in above:
        hint = "write one of these texts without the other"
        yield DescriptionProblem((*at, "text", name), f"'{name}' is within itself", hint)
        return
    if name in used and items >= used[name]:
        return
    used[name] = set(items)
    for place, text in enumerate(texts[name]):
        number = () if isinstance(rules.text[name], Text) else (str(place),)
        own = items if not text.each else _values_of(text.each)
        for key, values, whole in (("text", own, text.text), *_around(text, items)):
            path = (*at, "text", name, *number, key)
            for hole in dict.fromkeys(HOLE.findall(whole)):
                if hole in texts and hole not in values:
                    yield from _check_names(at, hole, rules, texts, values, (*above, name), used)
                elif hole not in values and hole not in VALUES and not hole.startswith(KEY):
                    known = (*values, *VALUES)
                    near = nearest(hole, (*known, *texts))
                    hint = near or "values: " + ", ".join(f"${{{each}}}" for each in known)
                    yield DescriptionProblem(path, f"'${{{hole}}}' is unknown here", hint, f"${{{hole}}}")


def _around(text: Text, items: frozenset[str]) -> list[tuple[str, frozenset[str], str]]:
    """The texts around one, each with its key and the values that it may have."""
    return [("before", items, text.before), ("after", items, text.after), ("empty", items, text.empty)]


def _values_of(lists: str) -> frozenset[str]:
    """The values that the items of all lists have."""
    values = [frozenset(ITEM_NAMES[name]) for name in lists.split() if name in ITEM_NAMES]
    return frozenset.intersection(*values) if values else frozenset()
