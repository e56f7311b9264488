"""The type and alias-annotation grammar of operator schemas."""

from __future__ import annotations

import re
from collections.abc import Collection

from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError, nearest
from gradmill.releases import KNOWN, minor, resolve
from gradmill.releases.elsewhere import dated

MOST_SUFFIXES = 50  # upstream has two
_GENERIC = regex(r"(?:std::|c10::|typing\.)?([Oo]ptional|[Ll]ist|vector|ArrayRef)[\[<](.+)[\]>]")
_LIST = regex(r"(?:at::|c10::)?(\w+?)(?:ArrayRef|List)")
_SUFFIX = regex(r"\?|\[(\d*)\]")
_CUSTOM_CLASS = regex(r"__torch__\.torch\.classes\.[a-zA-Z0-9_.]+")
# One letter, more letters, whether it is written to, and the letters afterwards.
_ANNOTATION = regex(r"([a-z])((?:\|[a-z])*)(!?)(?: -> (\*|[a-z](?:\|[a-z])*))?")
_ANNOTATED = regex(r"Tensor\((.+)\)(.*)", re.DOTALL)


def check_type(text: str, base_types: Collection[str]) -> None:
    """Raises a SpecError unless `text` is a base type followed by `?`, `[]` and `[N]`, MOST_SUFFIXES at most."""
    if text in base_types:
        return
    base = base_type(text)
    position, depth = len(base), 0
    while position < len(text):
        depth += 1
        if depth > MOST_SUFFIXES:
            problem = f"more than {MOST_SUFFIXES} nested lists and optionals in a type"
            raise SpecError(problem, f"write {base}[] or {base}?", needle=f"{text[:position]}")
        suffix = _SUFFIX.match(text, position)
        if suffix is None:
            raise SpecError(f"unrecognized type '{text}'", _as_schema(text) or nearest(text, base_types), needle=text)
        size = suffix.group(1)
        if size and (size == "0" * len(size) or size[0] == "0"):
            raise SpecError(f"list size '{size}' in type '{text}'", "write a positive size, or []", needle=text)
        position = suffix.end()
    if base not in base_types and not _CUSTOM_CLASS.fullmatch(base):
        hint = _as_schema(text) or nearest(base, base_types)
        error = SpecError(f"unrecognized type '{text}'", hint, needle=text)
        raise dated(error, lambda release: base in release.base_types)


def _as_schema(text: str) -> str:
    """A hint with the schema type that a type of Python or C++ is; "" if it is none."""
    generic = _GENERIC.fullmatch(text)
    if generic is not None:
        return f"write {generic[2]}{'?' if generic[1].lower() == 'optional' else '[]'}"
    name = text.removeprefix("const ").removesuffix("&").strip().removeprefix("::")
    of = resolve(minor(KNOWN[-1])).base_types
    listed = _LIST.fullmatch(name)
    if listed is not None:
        name = {"int": "int64_t", "double": "double"}.get(listed[1].lower(), listed[1])
    meant = [schema for schema, cpp in of.items() if cpp and name in (cpp, cpp.rpartition("::")[2], schema)]
    return f"write {meant[0]}{'[]' if listed is not None else ''}" if meant else ""


def base_type(text: str) -> str:
    """The type without its suffixes: `Tensor` of `Tensor?[]`."""
    return text.partition("?")[0].partition("[")[0]


def element(type_: str) -> str | None:
    """The element type of a list or optional: `Tensor?` of `Tensor?[]`, `int` of `int[2]`; None for a base type."""
    if type_.endswith("?"):
        return type_[:-1]
    if type_.endswith("]"):
        return type_[: type_.rindex("[")]
    return None


def split_annotation(text: str) -> tuple[str, str | None]:
    """The type and the alias annotation: `Tensor?` and `a!` for `Tensor(a!)?`; None if there is no annotation.

    Raises a SpecError if the annotation is malformed, or if a type of this form cannot have one.
    """
    match = _ANNOTATED.match(text) if "(" in text else None
    if match is None:
        return text, None
    annotation, suffix = match.groups()
    if suffix not in ("", "?", "[]"):
        problem = f"alias annotation on a type that ends with '{suffix}'"
        raise SpecError(problem, "an annotation goes on Tensor, Tensor? or Tensor[]", needle=text)
    check_annotation(annotation)
    return "Tensor" + suffix, annotation


def check_annotation(text: str) -> None:
    """Raises a SpecError unless `text` has the form `a`, `a!`, `a|b`, `a -> b|c` or `a -> *`.

    One of the two sets must have a single member.
    """
    match = _ANNOTATION.fullmatch(text)
    if match is None:
        problem, hint = f"unrecognized alias annotation '{text}'", "write (a), (a!), (a|b), (a -> *) or (a! -> a|b)"
    elif len(match[2]) > 2:
        problem, hint = f"alias set of more than two members in '{text}'", "name at most two aliases"
    elif match[2] and match[3]:
        problem, hint = f"an alias set of two cannot be written to: '{text}'", "write (a!)"
    elif match[2] and "|" in (match[4] or ""):
        problem, hint = f"the alias sets before and after are both larger than one in '{text}'", "shorten one"
    else:
        return
    raise SpecError(problem, hint, needle=text)
