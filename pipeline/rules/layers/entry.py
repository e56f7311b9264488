"""What a layer does to one of its entries before it is read: keys that count for others, namespaces, rewrites."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.model.layers import Rewrite, Source
from pipeline.problems.problem import SpecError

Entry = dict[str, object]


def operator_of(text: object) -> str:
    """The operator that a schema is of, with its overload: `toy::add.Tensor`."""
    return text.partition("(")[0].strip() if isinstance(text, str) else ""


def looked_at(entry: Mapping[str, object], source: Source) -> Entry:
    """The keys of an entry that count, as the layer says."""
    versions = source.versions.named if source.versions is not None else ()
    left = {*source.drop, *versions}
    return {key: value for key, value in entry.items() if key not in left and (not source.keep or key in source.keep)}


def in_namespace(entry: Entry, namespace: str) -> Entry:
    """A function in the layer's namespace, where it names none."""
    func = entry.get("func")
    if not namespace or not isinstance(func, str) or "::" in func.partition("(")[0]:
        return entry
    return {**entry, "func": f"{namespace}::{func}"}


def rewritten(entry: Entry, rewrites: tuple[Rewrite, ...]) -> Entry:
    """A function of the base whose schema is changed; a SpecError where it has not what is to be changed."""
    for rewrite in rewrites:
        func = entry.get("func")
        if isinstance(func, str) and operator_of(func) == rewrite.func:
            if rewrite.from_ not in func:
                raise SpecError(f"the schema that is to be changed has no '{rewrite.from_}': {func}")
            entry = {**entry, "func": func.replace(rewrite.from_, rewrite.to)}
    return entry
