"""What the release of a spec set refuses, and other releases accept: entries may be of another release."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cache

from gradmill.problems.problem import SpecError
from gradmill.releases import KNOWN, minor, resolve
from gradmill.releases.model import Release

_RELEASES = tuple(minor(version) for version in KNOWN)
_FEWEST = 2  # errors that make the release doubtful


def dated(error: SpecError, accepts: Callable[[Release], bool], *, keep: bool = False) -> SpecError:
    """The error, with the known releases that have none there, and a hint if there are any: in place of its own, or
    before that (`keep`). `accepts`: whether a release has none."""
    return _dated(error, [release.version for release in _all() if accepts(release)], keep=keep)


def dated_name(error: SpecError, name: str) -> SpecError:
    """The same for a function that the release lacks."""
    from gradmill.releases.names import names_of  # large tables

    tables = [(release, names_of(release)) for release in _RELEASES]
    return _dated(error, [release for release, own in tables if name in (*own.functions, *own.others, *own.helpers)])


def doubt(refused: Collection[Iterable[str]], count: int) -> str:
    """A question about the release, from the `refused` of `count` problems, each as the releases without it; "" for
    none."""
    if len(refused) < _FEWEST:
        return ""
    each = [sum(release in accepting for accepting in refused) for release in _RELEASES]
    best = [release for release, accepted in zip(_RELEASES, each) if accepted == max(each)]
    which = f"none of these {count} problems exists"
    if max(each) < count:
        which = f"{max(each)} of these {count} problems do not exist"
    return f"{which} in PyTorch {_span(best)}"


def _dated(error: SpecError, releases: list[str], *, keep: bool = False) -> SpecError:
    if releases:
        error.releases = tuple(releases)
        own = f" Else {error.hint}" if keep and error.hint else ""
        error.hint, error.fix = f"it is right in PyTorch {_span(releases)}: is the release right?{own}", None
    return error


@cache
def _all() -> tuple[Release, ...]:
    return tuple(map(resolve, _RELEASES))


def _span(releases: list[str]) -> str:
    """Releases, in their order, in words: `2.9 and newer`, `2.4 to 2.6`."""
    first, last = (_RELEASES.index(release) for release in (releases[0], releases[-1]))
    if len(releases) == 1 or last - first + 1 != len(releases):
        return ", ".join(releases)
    if last == len(_RELEASES) - 1:
        return f"{releases[0]} and newer"
    return f"{releases[-1]} and older" if first == 0 else f"{releases[0]} to {releases[-1]}"
