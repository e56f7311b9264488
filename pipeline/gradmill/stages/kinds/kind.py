"""What a kind of units has, and what a family says of its units by the names of functions."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from gradmill.families.family import Family
from gradmill.model.units import Unit
from gradmill.query.database import Database


@cache
def found(name: str) -> Any:
    """A function by its module and name, such as `schemas.function`, or by the whole name of its module. Modules are
    loaded when one is needed: few runs have most families."""
    module, _, function = name.rpartition(".")
    return getattr(import_module(module if module.startswith("gradmill.") else f"gradmill.stages.{module}"), function)


def itself(db: Database, family: Family, function: str) -> list[str]:
    """The units that are made from a function, by name, if units are named by functions."""
    return [function]


class Kind(NamedTuple):
    """The functions of a kind, each of the database and the family."""

    listed: Callable[[Database, Family], list[Unit]]  # all, in the order in which they are printed
    named: Callable[[Database, Family, str], Unit | None]  # a unit by its name
    in_bucket: Callable[[Database, Family, str], list[Unit]] | None = None  # if they are of functions of one bucket
    of_function: Callable[[Database, Family, str], list[str]] = itself  # the names of units that one may be made from
