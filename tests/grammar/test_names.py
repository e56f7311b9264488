"""The name that a hint suggests is difflib's, and is found with few comparisons."""

from __future__ import annotations

from difflib import SequenceMatcher, get_close_matches
from random import Random

import pytest
from project import CORE

from gradmill.problems.names import closest, nearest
from gradmill.specs import entries


def names_of_core() -> tuple[str, ...]:
    text = (CORE / "native_functions.yaml").read_text()
    result = (entries.head(piece.text).removeprefix("func: ").partition("(")[0] for piece in entries.cut(text) or [])
    return tuple(sorted(result))


NAMES = names_of_core()


def misspelt(name: str, random: Random) -> str:
    for _ in range(random.choice([1, 1, 2, 5])):
        at = random.randrange(len(name) + 1)
        name = name[:at] + random.choice(["", "a", "_", "Tensor", "é"]) + name[at + random.choice([0, 1, 3]) :]
    return name


def by_difflib(name: str, names: tuple[str, ...]) -> str:
    return next(iter(get_close_matches(name, names, n=1, cutoff=0.6)), "")


def test_the_nearest_name_is_the_one_that_difflib_finds() -> None:
    random = Random(0)
    for name in (misspelt(random.choice(NAMES), random) for _ in range(200)):
        assert closest(name, NAMES) == by_difflib(name, NAMES)


def test_the_nearest_of_names_that_are_equally_near_is_the_one_that_difflib_finds() -> None:
    random = Random(0)
    words = ["".join(random.choices("abAé_", k=random.randrange(7))) for _ in range(40)]
    for _ in range(3_000):
        name, names = random.choice(words), tuple(random.choices(words, k=random.randrange(8)))
        assert closest(name, names) == by_difflib(name, names), (name, names)


def test_letters_that_a_name_has_many_times_are_counted() -> None:
    names = ("a" * 9, "a" * 20, "ab" * 9)
    assert [closest("a" * count, names) for count in (4, 9, 14, 15, 40)] == [
        by_difflib("a" * count, names) for count in (4, 9, 14, 15, 40)
    ]


def test_no_name_is_suggested_where_none_is_near() -> None:
    assert nearest("zzzz", NAMES) == ""
    assert nearest("slef", ["self", "other"]) == "did you mean 'self'?"


def test_few_names_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    random, ratio, compared = Random(0), SequenceMatcher.ratio, list[str]()
    monkeypatch.setattr(SequenceMatcher, "ratio", lambda matcher: compared.append(matcher.a) or ratio(matcher))
    for name in (misspelt(random.choice(NAMES), random) for _ in range(100)):
        closest(name, NAMES)
    assert 100 < len(compared) < 100 * len(NAMES) / 50
