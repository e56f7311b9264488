"""Buckets: functions that are related by name share a bucket, and all buckets are used."""

from __future__ import annotations

from random import Random

import pytest

from gradmill.grammar.buckets import BUCKETS, bucket_of, in_buckets

_PARTS = ("x foo foreach copy out inverse functional scatter i in 2d backward _ __").split()
_MARKS = ("_out", "_functional")


def _names(count: int, *, foreach: bool = True) -> list[str]:
    """Names that a function may have which is no variant of another one."""
    random = Random(0)
    result: list[str] = []
    while len(result) < count:
        name = random.choice(["", "_"]) + "_".join(random.choices(_PARTS, k=random.randrange(1, 5)))
        if name.endswith((*_MARKS, "_")) or not name.strip("_") or (not foreach and "foreach" in name):
            continue
        result.append(name)
    return result


def _met(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs that do not meet."""
    return [pair for pair in pairs if bucket_of(pair[0]) != bucket_of(pair[1])]


@pytest.mark.parametrize("variant", ["{}_", "{}_out", "{}_functional", "{}.Tensor", "{}.out"])
def test_a_variant_has_the_bucket_of_its_function(variant: str) -> None:
    names = [*_names(500), *(f"_foreach_{name}" for name in _names(500))]
    assert _met([(name, variant.format(name)) for name in names]) == []


def test_an_inplace_operator_of_two_underscores_has_the_bucket_of_its_function() -> None:
    names = ["and", "or", "xor", "lshift", "rshift"]
    assert _met([(f"__{name}__", f"__i{name}__") for name in names]) == []


def test_a_view_has_the_bucket_of_its_copies() -> None:
    copies = ["{}_copy", "{}_scatter", "_{}_copy", "{}_inverse"]
    names = _names(500, foreach=False)
    assert _met([(name, copy.format(name)) for name in names for copy in copies]) == []


def test_a_foreach_function_has_the_bucket_of_what_it_applies() -> None:
    names = _names(500)
    pairs = [(f"_foreach_{name}", f"_foreach_{name}".split("_foreach_")[-1]) for name in names]
    assert _met([*pairs, *((f"{foreach}_", plain) for foreach, plain in pairs)]) == []


def test_an_entry_has_the_bucket_of_its_operator() -> None:
    marked = ["{}#2", "aten::{}", "aten::{}.Scalar#3", "{} extra", "aten::{}.out vendor#2"]
    assert _met([(name, mark.format(name)) for name in _names(300) for mark in marked]) == []


def test_all_buckets_are_used_about_alike() -> None:
    names = [f"operator{number}" for number in range(BUCKETS * 50)]
    sizes = [len(members) for members in in_buckets(names).values()]
    assert len(sizes) == BUCKETS
    assert max(sizes) < 100
