"""The type and alias-annotation grammar of operator schemas."""

from __future__ import annotations

import re
from collections.abc import Collection

from pipeline.model.regex import regex
from pipeline.problems.problem import SpecError, nearest

MOST_SUFFIXES = 50  # upstream has two
_SUFFIX = regex(r"\?|\[(\d*)\]")
_CUSTOM_CLASS = regex(r"__torch__\.torch\.classes\.[a-zA-Z0-9_.]+")
_ANNOTATION = regex(r"([a-z])((?:\|[a-z])*)(!?)(?: -> (\*|[a-z](?:\|[a-z])*))?")
_ANNOTATED = regex(r"Tensor\((.+)\)(.*)", re.DOTALL)


def check_type(text: str, base_types: Collection[str]) -> None:
    """Refuses `text` unless it is a base type followed by any number of `?`, `[]` and `[N]`."""
    if text in base_types:
        return
    base = base_type(text)
    position, depth = len(base), 0
    while position < len(text):
        depth += 1
        if depth > MOST_SUFFIXES:
            what = f"more than {MOST_SUFFIXES} lists and optionals of one another in a type"
            raise SpecError(what, f"write {base}[] or {base}?", needle=f"{text[:position]}")
        suffix = _SUFFIX.match(text, position)
        if suffix is None:
            raise SpecError(f"unrecognized type '{text}'", nearest(text, base_types), needle=text)
        size = suffix.group(1)
        if size and (size == "0" * len(size) or size[0] == "0"):
            raise SpecError(f"list size '{size}' in type '{text}'", "write a positive size, or []", needle=text)
        position = suffix.end()
    if base not in base_types and not _CUSTOM_CLASS.fullmatch(base):
        raise SpecError(f"unrecognized type '{text}'", nearest(base, base_types), needle=text)


def base_type(text: str) -> str:
    """`Tensor` of `Tensor?[]`."""
    end = len(text)
    for mark in "?[":
        at = text.find(mark)
        if 0 <= at < end:
            end = at
    return text[:end]


def element(type_: str) -> str | None:
    """What a list or an optional holds: `Tensor?` of `Tensor?[]`, `int` of `int[2]`; None of a plain type."""
    if type_.endswith("?"):
        return type_[:-1]
    if type_.endswith("]"):
        return type_[: type_.rindex("[")]
    return None


def split_annotation(text: str) -> tuple[str, str | None]:
    """`Tensor(a!)?` is the type `Tensor?` with the annotation `a!`; the annotation is checked."""
    match = _ANNOTATED.match(text) if "(" in text else None
    if match is None:
        return text, None
    annotation, suffix = match.groups()
    if suffix not in ("", "?", "[]"):
        raise SpecError(
            f"alias annotation on a type that ends with '{suffix}'",
            "an annotation goes on Tensor, Tensor? or Tensor[]",
            needle=text,
        )
    check_annotation(annotation)
    return "Tensor" + suffix, annotation


def check_annotation(text: str) -> None:
    """Refuses `text` unless it reads `a`, `a!`, `a|b`, `a -> b|c`, `a -> *`, with one set of one member at least."""
    match = _ANNOTATION.fullmatch(text)
    if match is None:
        raise SpecError(
            f"unrecognized alias annotation '{text}'", "write (a), (a!), (a|b), (a -> *) or (a! -> a|b)", needle=text
        )
    more_before, write, after = match.group(2), match.group(3), match.group(4)
    if len(more_before) > 2:
        raise SpecError(f"alias set of more than two members in '{text}'", "name at most two aliases", needle=text)
    if write and more_before:
        raise SpecError(f"an alias set of two cannot be written to: '{text}'", "write (a!)", needle=text)
    if more_before and after and "|" in after:
        raise SpecError(
            f"the alias sets before and after are both larger than one in '{text}'", "shorten one", needle=text
        )
