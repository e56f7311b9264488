"""How a layer changes one of its entries before it is parsed: dropped keys, namespaces, rewrites."""

from __future__ import annotations

from collections.abc import Mapping

from gradmill.model.layers import Rewrite, SpecSource

Entry = dict[str, object]


def operator_of(text: object) -> str:
    """The operator of a schema, with its overload: `toy::add.Tensor`; "" for what is not text."""
    return text.partition("(")[0].strip() if isinstance(text, str) else ""


def kept_keys(entry: Mapping[str, object], source: SpecSource) -> Entry:
    """The entry with the keys that the layer keeps: without `drop`, the keys of releases, and all but `keep`."""
    dropped = {*source.drop, *source.version_keys}
    return {
        key: value for key, value in entry.items() if key not in dropped and (not source.keep or key in source.keep)
    }


def in_namespace(entry: Entry, namespace: str) -> Entry:
    """The entry with its function in the layer's namespace, unless the function names a namespace."""
    func = entry.get("func")
    if not namespace or not isinstance(func, str) or "::" in func.partition("(")[0]:
        return entry
    return {**entry, "func": f"{namespace}::{func}"}


def rewritten(entry: Entry, rewrites: tuple[Rewrite, ...]) -> tuple[Entry, list[Rewrite]]:
    """The entry of a base function with its schema rewritten, and the rewrites with text that the schema lacks."""
    unmatched = []
    for rewrite in rewrites:
        func = entry.get("func")
        if isinstance(func, str) and operator_of(func) == rewrite.func:
            if rewrite.from_ not in func:
                unmatched.append(rewrite)
            entry = {**entry, "func": func.replace(rewrite.from_, rewrite.to)}
    return entry, unmatched
