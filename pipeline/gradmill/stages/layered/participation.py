"""The functions that take part in the output of a set of layers, and their order."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from gradmill.model.entries import by_key
from gradmill.model.layers import listed
from gradmill.query.database import Database
from gradmill.query.query import table, unkept
from gradmill.rules.native.heads import qualified, within
from gradmill.stages import infos
from gradmill.stages.schemas import Listed, all_heads, bucket_of_function, heads
from gradmill.stages.set import described, is_described

T = TypeVar("T")


def participants(db: Database, bucket: str) -> list[Listed]:
    """The functions of a bucket that take part; all of a plain set."""
    listed_heads = heads(db, bucket)
    if not is_described(db):
        return listed_heads
    names = set(taken.item(db, bucket) or ())
    return [listed for listed in listed_heads if listed[0] in names]


@table
def taken(db: Database) -> dict[str, list[str]]:
    """The functions of a set of layers that take part, by bucket."""
    return by_key((bucket_of_function(name), name) for name, _ in all_participants(db))


@unkept
def all_participants(db: Database) -> list[Listed]:
    """The functions that `take` selects, without those that `exclude` names, in the order of printed kernels; all of a
    plain set, by name."""
    layers, functions = described(db), all_heads(db)
    if layers is None:
        return sorted(functions, key=lambda each: each[1].cpp_name)
    asked = layers.description.functions
    take, left_out = {*listed(asked.take)}, {*listed(asked.exclude)}
    if "all" not in take:
        from gradmill.stages.layered.marks import words_of  # only a description needs it

        defined = _defined(db) if "defined" in take else {}
        words = words_of(db) if take - {"defined"} else {}
        functions = [each for each in functions if each[0] in defined or take & {*words.get(each[0], ())}]
    functions = [each for each in functions if left_out.isdisjoint((each[1].name, qualified(each[1])))]
    if asked.order == "name":
        return sorted(functions, key=lambda each: each[1].cpp_name)
    place = _defined(db) if asked.order == "derivatives" else {}
    return sorted(functions, key=lambda each: place.get(each[0], float("inf")))


def ordered(db: Database, items: Iterable[T], function: Callable[[T], str], cpp_name: Callable[[T], str]) -> list[T]:
    """Items of functions, in the order of printed kernels; those that take no part come last. Functions that share a
    C++ name are in one bucket, in their order; `items` must be in the order of buckets."""
    layers = described(db)
    if layers is None or layers.description.functions.order == "name":
        return sorted(items, key=cpp_name)
    place = {name: i for i, (name, _) in enumerate(all_participants(db))}
    return sorted(items, key=lambda each: place.get(function(each), len(place)))


def _defined(db: Database) -> dict[str, int]:
    """The functions with a definition for their name, or else for their base name: its position."""
    heads = dict(all_heads(db))
    defined = [qualified(heads[each.function]) for each in infos.all_defined(db)]
    at = {name: position for position, name in reversed([*enumerate(defined)])}
    found = {name: at.get(qualified(head), at.get(within(head.namespace, head.base))) for name, head in heads.items()}
    return {name: position for name, position in found.items() if position is not None}
