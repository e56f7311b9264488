"""Scalars of YAML as PyYAML writes them. It writes what is rare; names, types and schemas are written as they are.

torchgen: `gen.format_yaml`.
"""

from __future__ import annotations

from functools import lru_cache

from pipeline.model.regex import regex

# A text that is plain to any emitter: it begins with a letter, and has no `: `, ` #`, or white space at its end.
_PLAIN = regex(r"(?:::)?[A-Za-z_](?:[!-9;-~]|:(?=[!-~])| (?=[!\"$-~]))*")
_WORDS = frozenset("true false yes no on off null".split())  # which YAML takes for other values
_NAMED = {None: "null", True: "true", False: "false", "": "''"}
_ONE_LINE = 1e9  # upstream's width

Scalar = str | bool | int | float | None


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
