"""Renders the declaration of one function as an element of a list in YAML."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import to_builtins

from pipeline.families.declarations.plan import Declaration
from pipeline.families.declarations.scalars import scalar
from pipeline.releases.model import Release


def declaration(plan: Declaration, release: Release) -> str:
    """The declaration. Its fields keep their order, those of arguments and returns are sorted."""
    fields: dict[str, Any] = to_builtins(plan)
    return _mapping([_field(name, value) for name, value in fields.items()], "")


def _field(name: str, value: Any) -> str:
    if not isinstance(value, list):
        return f"{name}: {scalar(value, 1)}"
    return "\n".join((f"{name}:", *(_element(each) for each in value))) if value else f"{name}: []"


def _element(value: Any) -> str:
    if isinstance(value, str):
        return f"  - {value}"
    return _mapping([f"{name}: {scalar(each, 2)}" for name, each in sorted(value.items())], "  ")


def _mapping(fields: Iterable[str], indent: str) -> str:
    """An element of a list that is a mapping."""
    return f"{indent}- " + f"\n{indent}  ".join(fields)
