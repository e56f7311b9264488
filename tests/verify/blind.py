"""Formulas that other releases of torch have for operators of the installed one: which does `gradmill verify` report?

    python -m tests.verify.blind [VERSION ...] [--only OPERATOR ...] [--wheels FOLDER]

Each formula that another release has in place of the installed torch's, for an operator of the same schema, is put
into the installed torch's specs and verified there, as an edit of it. Next to it stands what is found of torch's own
formula, which is the older one where the release is newer. Of torch's own formula, findings at samples that are not
torch's are no reports; they are printed as `shared`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from releases import WHEELS, download, find_wheel

from verify.edited import CACHE, Definitions, installed, load, operator, verify

_MEMBER = "torchgen/packaged/autograd/derivatives.yaml"
_OTHERS = ("name", "dispatch", "output_differentiability")  # keys of a definition that are no formulas

_NONE = "non_differentiable"
_INDENT = f"\n{'':11}"


class Change(NamedTuple):
    """Formulas of another release, by their keys, which are put into a definition together: one, or all those of a
    definition that torch has none of in their place. `own`: those of the installed torch."""

    version: str
    definition: str
    formulas: tuple[tuple[str, str], ...]
    own: tuple[tuple[str, str], ...]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.verify.blind", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("versions", nargs="*", default=["2.11.0", "2.15.0"], metavar="VERSION")
    parser.add_argument("--wheels", type=Path, default=WHEELS, help="where wheels are kept (GRADMILL_WHEELS)")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--only", nargs="+", metavar="OPERATOR", help="formulas of these operators alone")
    options = parser.parse_args()
    own = installed()
    changes: list[Change] = []
    for version in options.versions:
        changes += changed(version, own, load(_packaged(version, options.wheels.resolve())), changes)
    if options.only:
        changes = [each for each in changes if operator(each.definition) in options.only]
    names = sorted({operator(each.definition) for each in changes if each.own})
    as_installed = verify(own, names, options.cache)
    results = dict(_verified(own, changes, options.cache))
    for change in changes:
        _print(change, results[change], as_installed.get(operator(change.definition)))
    counts = [_status(results[change]) for change in changes]
    print(", ".join(f"{counts.count(each)} {each}" for each in sorted(set(counts))), f"of {len(counts)}")
    return 0


def _packaged(version: str, wheels: Path) -> bytes:
    """The definitions in the wheel of a release."""
    with ZipFile(find_wheel(version, wheels) or download(version, wheels)) as archive:
        return archive.read(_MEMBER)


def changed(version: str, own: Definitions, others: Definitions, known: list[Change]) -> Iterator[Change]:
    """The formulas of another release that differ from the installed torch's, for the same schema, and are not among
    the known ones."""
    by_name = {each["name"]: each for each in own}
    seen = {(each.definition, each.formulas) for each in known}
    for other in others:
        before = by_name.get(other["name"], other)
        differing = [key for key in other if key not in _OTHERS and other[key] != before.get(key)]
        new = any(before.get(key, _NONE) == _NONE for key in differing)
        for keys in [differing] if new else [[key] for key in differing]:
            formulas = tuple((key, str(other[key])) for key in keys)
            if formulas and (other["name"], formulas) not in seen:
                yield Change(version, other["name"], formulas, () if new else ((keys[0], str(before[keys[0]])),))


def _verified(own: Definitions, changes: list[Change], cache: Path) -> Iterator[tuple[Change, dict[str, Any] | None]]:
    """Each change with its row of the report. A run has one change of each definition."""
    rest = list(changes)
    while rest:
        now = {change.definition: change for change in reversed(rest)}
        rest = [change for change in rest if now[change.definition] is not change]
        definitions = deepcopy(own)
        for definition in definitions:
            if definition["name"] in now:
                definition |= dict(now[definition["name"]].formulas)
        rows = verify(definitions, sorted(map(operator, now)), cache)
        for change in now.values():
            yield change, rows.get(operator(change.definition))


def _print(change: Change, row: dict[str, Any] | None, own: dict[str, Any] | None) -> None:
    print(operator(change.definition))
    for where, formulas, found in ((change.version, change.formulas, row), ("here", change.own, own)):
        texts = [f"{key}: {formula}" for key, formula in formulas] or ["no formula"]
        print(f"  {where:8} {_INDENT.join(texts)}{_INDENT}{_found(found)}")


def _status(row: dict[str, Any] | None) -> str:
    return row["status"] if row else "no Node"


def _found(row: dict[str, Any] | None) -> str:
    """What was found of an operator's formulas."""
    if row is None or row["reason"]:
        return f"not checked: {row['reason']}" if row else "not verified"
    found = [_finding(each) for each in row["findings"]]
    shared = [f"shared: {_finding(each)}" for each in row["shared"]]
    return _INDENT.join([row["status"], *found, *shared])


def _finding(finding: dict[str, str]) -> str:
    point = f" ({finding['point']})" if finding["point"] else ""
    return "{check} {name}: {computed}, not {expected}, for {input}".format(**finding) + point


if __name__ == "__main__":
    sys.exit(main())
