"""Every release against its own torchgen: see the package."""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from never_wrong.campaign import Trial, in_order, options, run

import releases
from gradmill.releases import minor
from releases import (
    HEADING,
    WHEELS,
    Broken,
    Result,
    Source,
    Unavailable,
    aten,
    compare,
    find_source,
    flags,
    known_versions,
    row,
    stubs,
)

AUTOGRAD, ATEN = "autograd", ("aten", "headers", "sources", "declarations_yaml")  # of `--only`
STUBS = "stubs"  # only if it is named


def main(words: Sequence[str]) -> int:
    parser = options(releases.__doc__, None)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="releases; all known ones by default")
    parser.add_argument("--wheels", type=Path, default=WHEELS, help="where wheels are kept (GRADMILL_WHEELS)")
    parser.add_argument("--only", choices=(AUTOGRAD, *ATEN, STUBS), help="which files")
    parser.add_argument("--aggregated", action="store_true", help="ATen's without headers for each operator")
    parser.add_argument("--flags", action="store_true", help="with --only aten: with each option of torchgen.gen")
    parser.add_argument("--backends", type=Path, help="a folder with more files of backends, for --only stubs")
    wanted = parser.parse_args(words)
    if wanted.only in (None, AUTOGRAD):
        print(HEADING, flush=True)
    return run(_trials(wanted), wanted)


def _trials(wanted: argparse.Namespace) -> Iterator[Trial]:
    """One for each release."""
    backends = [*stubs.BACKENDS, *sorted(wanted.backends.resolve().glob("*.yaml") if wanted.backends else ())]
    for version in in_order(wanted.versions or known_versions(), wanted):
        with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
            try:
                equal = _compared(version, wanted, backends, Path(name))
            except (Unavailable, Broken) as error:
                yield Trial(version, str(error))
            else:
                yield Trial(version, "" if equal else "its files differ")


def _compared(version: str, wanted: argparse.Namespace, backends: list[Path], folder: Path) -> bool:
    """Whether all files of a release are equal; prints what differs."""
    equal, cache = True, folder / "cache"
    source = find_source(version, wanted.wheels.resolve(), folder / "unpacked")
    if wanted.only in (None, AUTOGRAD):
        equal = _print_autograd(version, compare(source, folder, cache))
    if wanted.only == STUBS:
        equal = _print_result(version, stubs.compare(source, folder, backends)) and equal
    elif wanted.flags:
        equal = _print_flags(version, source, folder) and equal
    elif wanted.only != AUTOGRAD:
        result = aten.compare(source, folder, cache, wanted.only or ATEN[0], aggregated=wanted.aggregated)
        equal = _print_result(version, result) and equal
    return equal


def _print_autograd(version: str, result: Result) -> bool:
    """Prints the row of a release; returns whether all is equal."""
    print(row(version, result), flush=True)
    for what in (*result.files, *result.functions)[:10]:
        print(f"{'':10}differs: {what}", flush=True)
    return not result.files and not result.functions


def _print_result(version: str, result: aten.Result | stubs.Result) -> bool:
    """The same of ATen's files, and of stubs."""
    print(f"{version:10}{result}", *(f"{'':10}{problem}" for problem in result.problems()), sep="\n", flush=True)
    return result.is_equal


def _print_flags(version: str, source: Source, folder: Path) -> bool:
    """Prints a row for each option of torchgen.gen."""
    equal = True
    for words, different in flags.compare(source, minor(version), folder, folder / "cache"):
        what = f"differs: {aten.kinds(different)}" if different else "equal"
        print(f"{version:10}{words}\n{'':10}{what}", flush=True)
        equal = equal and not different
    return equal
