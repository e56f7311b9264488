"""What a kind of units has."""

from collections.abc import Callable
from typing import NamedTuple

from gradmill.families.family import Family
from gradmill.model.units import Unit
from gradmill.query.database import Database


def itself(db: Database, family: Family, function: str) -> list[str]:
    """The units that are made from a function, by name, if units are named by functions."""
    return [function]


class Kind(NamedTuple):
    """The functions of a kind, each of the database and the family."""

    listed: Callable[[Database, Family], list[Unit]]  # all, in the order in which they are printed
    named: Callable[[Database, Family, str], Unit | None]  # a unit by its name
    in_bucket: Callable[[Database, Family, str], list[Unit]] | None = None  # if they are of functions of one bucket
    of_function: Callable[[Database, Family, str], list[str]] = itself  # the names of units that one may be made from
