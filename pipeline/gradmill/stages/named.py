"""Functions of stages by name: what a family's units are rendered from, and how they are ordered."""

from functools import cache
from importlib import import_module
from typing import Any


@cache
def found(name: str) -> Any:
    """A function by its module and name, such as `schemas.function`, or by the whole name of its module. Modules are
    loaded when one is needed: few runs have most families."""
    module, _, function = name.rpartition(".")
    return getattr(import_module(module if module.startswith("gradmill.") else f"gradmill.stages.{module}"), function)
