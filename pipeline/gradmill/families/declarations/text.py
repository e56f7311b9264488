"""Renders the declaration of one function as an element of a list in YAML. PyYAML writes scalars that are rare; names,
types and schemas are written as they are.

torchgen: `gen.format_yaml`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from msgspec import to_builtins

from gradmill.families.declarations.fields import declaration_of
from gradmill.families.family import DECLARATION
from gradmill.model.native import WithOrigin
from gradmill.model.regex import regex
from gradmill.releases.model import Release

# A text that is plain to any emitter: it begins with a letter, and has no `: `, ` #`, or white space at its end.
_PLAIN = regex(r"(?:::)?[A-Za-z_](?:[!-9;-~]|:(?=[!-~])| (?=[!\"$-~]))*")
_WORDS = frozenset("true false yes no on off null".split())  # which YAML takes for other values
_NAMED = {None: "null", True: "true", False: "false", "": "''"}
_ONE_LINE = 1e9  # upstream's width

Scalar = str | bool | int | float | None


def render(subject: WithOrigin, release: Release) -> dict[str, str]:
    """The declaration. Its fields keep their order, those of arguments and returns are sorted."""
    fields: dict[str, Any] = to_builtins(declaration_of(subject, release))
    return {DECLARATION: _mapping([_field(name, value) for name, value in fields.items()], "")}


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


@lru_cache(maxsize=16384, typed=True)  # 1 and True differ
def scalar(value: Scalar, depth: int) -> str:
    """The text of a value in a mapping that `depth` lists contain. A text with line ends is indented."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    if value is None or value == "" or isinstance(value, bool):
        return _NAMED[value]
    if isinstance(value, int):
        return str(value)
    import yaml  # takes as long to import as a hundred units to print

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    nested: object = value
    for _ in range(depth):
        nested = [{"k": nested}]
    text = yaml.dump(nested, Dumper=dumper, default_flow_style=False, width=_ONE_LINE)
    before = "".join("  " * at + "- k:\n" for at in range(depth - 1)) + "  " * (depth - 1) + "- k: "
    return text.removeprefix(before).removesuffix("\n")
