"""The name that a hint suggests is difflib's, and is found quickly."""

from __future__ import annotations

import time
from difflib import get_close_matches
from random import Random

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


def test_many_wrong_names_are_looked_up_in_little_time() -> None:
    random = Random(0)
    wrong = [misspelt(random.choice(NAMES), random) for _ in range(2_000)]
    start = time.perf_counter()
    for name in wrong:
        closest(name, NAMES)
    assert time.perf_counter() - start < 20  # 0.4 s where nothing else runs
