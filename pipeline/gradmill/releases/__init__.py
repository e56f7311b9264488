"""PyTorch releases: `resolve` returns the facts of one, which are in `facts/`."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from gradmill.model.regex import regex
from gradmill.problems.problem import SpecError
from gradmill.releases.facts import facts_of
from gradmill.releases.model import Change, Release
from gradmill.releases.spans import key_of
from gradmill.releases.table import KNOWN, NAMES_OF

__all__ = ["KNOWN", "Release", "agreed_version", "is_at_least", "minor", "newest_at", "resolve", "resolve_version"]


_VERSION = regex(r"\d{1,9}\.\d{1,9}(?:\.\w+)*(?:\+[\w.-]+)?", re.ASCII)


def minor(version: str) -> str:
    """The minor release of a version: `2.13` of `2.13.0`, `2.13.0+cpu`, `2.13.0a0+git1234`."""
    return ".".join(version.split("+", maxsplit=1)[0].split(".")[:2])


def resolve_version(version: str, source: str = "") -> tuple[str, str]:
    """The known minor release to use for `version`, and a warning ("" if all facts of the release are known).

    A release newer than all known ones is read as the newest known one. Raises a SpecError for an older or malformed
    one. `source` is the file that names it, "" for the command line.
    """
    known = [minor(v) for v in KNOWN]
    wanted = minor(version)
    is_version = _VERSION.fullmatch(version) is not None
    if is_version and wanted in known:
        return wanted, _unread(wanted)
    if not is_version or key_of(wanted) < key_of(known[-1]):
        raise SpecError(
            f"{source and f'{source}: '}PyTorch release '{version}' is not known",
            f"known releases: {', '.join(KNOWN)}{'' if source else '; write release=X.Y.Z'}",
        )
    return known[-1], f"PyTorch release {version} is newer than all known ones; it is read as {known[-1]}"


def _unread(release: str) -> str:
    """A warning if the release was added to the table without reading the names of its package, else ""."""
    newest = minor(NAMES_OF)
    if key_of(release) <= key_of(newest):
        return ""
    return (
        f"PyTorch {release} was added without its names: formulas may call those of {newest};"
        f" python -m tests.add_release {release}.0 reads them"
    )


def agreed_version(option: str, own: str, source: str) -> str:
    """The version to use: `option`, the value of `release=`, or else `own`, which the file `source` of the set names.

    "" if both are empty. Raises a SpecError if they are of different minor releases, or `option` is not a known one.
    """
    if option:
        resolve_version(option)
    if option and own and minor(option) != minor(own):
        raise SpecError(
            f"release={option}, but {source} names {own} as the release of the spec set",
            "leave release= out, or change the file",
        )
    return option or own


def resolve(version: str, more: Iterable[Change] = ()) -> Release:
    """The facts of a known minor release, with `more` changes applied."""
    values = facts_of(version)
    for change in more:
        old = values.get(change.field, ())
        if change.set is not None:
            values[change.field] = change.set
        elif isinstance(old, dict):
            values[change.field] = old | (
                change.add if isinstance(change.add, dict) else {}
            )  # another form is reported
        else:
            assert isinstance(old, tuple)
            values[change.field] = (*old, *change.add)
    return msgspec.convert({"version": version, **values}, Release, strict=False)


def newest_at(version: str, candidates: Iterable[str]) -> str | None:
    """The newest of the `candidates` that is not newer than `version`; None if all are newer."""
    return max((c for c in candidates if is_at_least(version, c)), key=key_of, default=None)


def is_at_least(version: str, other: str) -> bool:
    """Whether a release is not older than another one."""
    return key_of(version) >= key_of(other)
