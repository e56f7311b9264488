"""How a layer changes one of its entries before it is parsed: dropped keys, namespaces, rewrites. An entry may apply to
some releases only, by the values of its version keys, as vendors write them.

`all_version` is every release that the file lists. `[v2.1, newest]` and `[v2.1, v2.5]` are ranges, ends included.
`v2.1, v2.3` and `[v2.1, v2.2, v2.4]` are lists. `>=v2.1`, `v2.1+` and the like are refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradmill.model.layers import Rewrite, SpecSource, Versions, listed
from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError
from gradmill.specs.layers.releases import minor_of

Entry = dict[str, object]
Key = tuple[int, ...]

_VERSION = regex(r"\s*[vV]?(\d+)\.(\d+)(?:\.\w+)*\s*")
_EVERY = ("all_version", "all_versions", "all")
_NEWEST = ("newest", "latest")
_HINT = "write all_version, v2.1, [v2.1, v2.5], [v2.1, newest], or several with commas"


def operator_of(text: object) -> str:
    """The operator of a schema, with its overload: `toy::add.Tensor`; "" for what is not text."""
    return text.partition("(")[0].strip() if isinstance(text, str) else ""


def changed(entry: Mapping[str, object], source: SpecSource) -> tuple[Entry, list[Rewrite]]:
    """The entry with the keys that the layer keeps, its function in the layer's namespace unless it names one, and the
    schema of a base's function rewritten; and the rewrites with text that the schema lacks."""
    dropped = {*source.drop, *source.version_keys}
    kept = {key: value for key, value in entry.items() if key not in dropped and key in (source.keep or entry)}
    func, unmatched = kept.get("func"), []
    if isinstance(func, str):
        if source.namespace and "::" not in operator_of(func):
            func = f"{source.namespace}::{func}"
        for rewrite in source.rewrites:
            if operator_of(func) == rewrite.func:
                unmatched += [rewrite] if rewrite.from_ not in func else []
                func = func.replace(rewrite.from_, rewrite.to)
        kept["func"] = func
    return kept, unmatched


def listed_versions(value: object, key: str) -> tuple[Key, ...]:
    """The releases that a file lists under `key`; none if `value` is None. Raises a SpecError for another value that is
    not a list of releases."""
    if value is None:
        return ()
    items = value if isinstance(value, list) else value.split(",") if isinstance(value, str) else None
    if not items:
        raise SpecError(f"the file has no list of releases '{key}'", "write [v2.1, v2.2]; or leave `all` out")
    return tuple(_version(item, key) for item in items)


def applies(entry: Mapping[str, object], rules: Versions, known: tuple[Key, ...], release: str) -> bool:
    """Whether an entry applies to a release. `known`: the releases that its file lists, if it lists any.

    If the entry has several version keys, one that includes the release is enough. Raises a SpecError for a value that
    is not a release, and for an entry without a version key if the layer requires one.
    """
    wanted = minor_of(release)
    keys = [key for key in listed(rules.keys) if entry.get(key) is not None]
    if not keys:
        if rules.missing == "error":
            missing = " or ".join(listed(rules.keys))
            raise SpecError(f"the entry does not name its releases: it has no {missing}", _HINT)
        return rules.missing == "held"
    matches = [_includes(entry[key], key, known, wanted) for key in keys]  # all are checked: one may be an error
    return any(matches)


def looks_like(value: object) -> bool:
    """Whether a value certainly names releases: `all_version`, `[v2.1, newest]`."""
    items = value if isinstance(value, list) else str(value).split(",") if isinstance(value, str) else []
    words = [str(item).strip() for item in items]
    known = (word in (*_EVERY[:2], *_NEWEST) or (word[:1] in "vV" and _VERSION.fullmatch(word)) for word in words)
    return bool(words) and all(known)


def _includes(value: object, key: str, known: tuple[Key, ...], wanted: Key) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip() in _EVERY:
        return not known or wanted in known
    if isinstance(value, list) and len(value) == 2:
        return _in_range(value, key, known, wanted)
    items = value if isinstance(value, list) else [part for part in str(value).split(",") if part.strip()]
    if not items:
        raise SpecError("no release is named", _HINT, field=(key,))
    return wanted in [_version(item, key) for item in items]


def _in_range(value: list[object], key: str, known: tuple[Key, ...], wanted: Key) -> bool:
    first, last = (None if str(end).strip() in _NEWEST else _version(end, key) for end in value)
    for end, text in ((first, value[0]), (last, value[1])):
        if known and end is not None and end not in known:
            names = ", ".join(f"v{major}.{minor}" for major, minor in known)
            raise SpecError(f"the file does not list the release '{text}'", f"it lists {names}", field=(key,))
    if first is not None and last is not None and last < first:
        raise SpecError(f"no release is from {value[0]} to {value[1]}", "swap them", field=(key,))
    first = first if first is not None else max(known, default=wanted)
    return first <= wanted and (last is None or wanted <= last) and (not known or wanted in known)


def _version(value: object, key: str) -> Key:
    match = _VERSION.fullmatch(str(value))
    if match is None:
        raise SpecError(f"'{value}' is not a release", _HINT, field=(key,), needle=str(value))
    return int(match[1]), int(match[2])
