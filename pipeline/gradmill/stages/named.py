"""Functions of stages by name: what a family's units are planned from, and how they are ordered."""

from functools import cache
from importlib import import_module
from typing import Any


@cache
def found(name: str) -> Any:
    """A function by its module and name, such as `schemas.function`. Modules are loaded when one is needed: few runs
    have most families."""
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"gradmill.stages.{module}"), function)
