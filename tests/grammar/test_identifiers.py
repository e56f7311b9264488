"""Identifiers in formulas, compared with the regular expression that upstream searches with."""

from __future__ import annotations

import random
import re

import pytest

from gradmill.cpp.identifiers import occurrences, replace, uses, words
from gradmill.problems.problem import SpecError


def upstream(name: str) -> re.Pattern[str]:
    return re.compile(rf"(^|\W)({re.escape(name)})($|\W)")


def random_texts() -> list[str]:
    """Texts that are dense with the names `grad` and `self` and with what may stand beside a name."""
    source = random.Random(20)
    pieces = [*["grad", "self"] * 4, *"** ().\n\n_1é", "gradient", "x_self", "grad_1"]
    return ["".join(source.choices(pieces, k=source.randrange(12))) for _ in range(5000)]


TEXTS = random_texts()


@pytest.mark.parametrize("name", ["grad", "self"])
def test_a_name_is_used_where_upstream_finds_it(name: str) -> None:
    pattern = upstream(name)
    assert [text for text in TEXTS if uses(text, name) != bool(pattern.search(text))] == []


@pytest.mark.parametrize("name", ["grad", "self"])
def test_a_name_occurs_where_upstream_finds_it(name: str) -> None:
    pattern = upstream(name)
    assert [text for text in TEXTS if occurrences(text, name) != [m.start(2) for m in pattern.finditer(text)]] == []


@pytest.mark.parametrize("name", ["grad", "self"])
def test_a_name_is_replaced_where_upstream_replaces_it(name: str) -> None:
    pattern = upstream(name)
    assert [text for text in TEXTS if replace(text, name, "other") != pattern.sub(r"\1other\3", text)] == []


def test_the_random_texts_hold_uses_that_upstream_misses() -> None:
    missed = [text for text in TEXTS if len(occurrences(text, "grad")) < len(re.findall(r"\bgrad\b", text))]
    assert len(missed) > 20


def test_the_replacement_is_taken_as_it_is() -> None:
    assert replace("f(self)", "self", r"\1\g<2>") == r"f(\1\g<2>)"


def test_words_are_identifiers_keywords_and_numbers() -> None:
    assert words("at::mul(self_p, 2) ? x.y : nullptr") == {"at", "mul", "self_p", "2", "x", "y", "nullptr"}


ODD_NAMES = ["x.y", "x-y", "x+", "x*", "(x)", "x?", "x$", "{x}", "x'", "x|y", "(x)?", r"x\w"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_that_is_no_word_is_part_of_the_pattern(name: str) -> None:
    pattern = re.compile(rf"(^|\W){name}($|\W)")
    source = random.Random(20)
    for text in ("".join(source.choices([name, *"xya. +-*\n'{}()$?"], k=source.randrange(8))) for _ in range(500)):
        assert uses(text, name) == bool(pattern.search(text))
        assert replace(text, name, "n_p") == pattern.sub(lambda m: f"{m.group(1)}n_p{m.group(2)}", text)


def test_a_name_that_makes_no_pattern_is_an_error() -> None:
    with pytest.raises(SpecError, match=r"'x\[' cannot be searched for"):
        uses("x", "x[")
