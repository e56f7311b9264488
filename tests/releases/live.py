"""Every release against its own torchgen: see the package."""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from never_wrong.campaign import Trial, in_order, options, run

import releases
from gradmill.releases import minor
from releases import WHEELS, Broken, Unavailable, aten, compare, find_source, flags, known_versions, stubs

AUTOGRAD, ATEN = "autograd", ("aten", "headers", "sources", "declarations_yaml")  # of `--only`
STUBS = "stubs"  # only if it is named
_SHOWN = 20  # that differ


def main(words: Sequence[str]) -> int:
    parser = options(releases.__doc__, None)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="releases; all known ones by default")
    parser.add_argument("--wheels", type=Path, default=WHEELS, help="where wheels are kept (GRADMILL_WHEELS)")
    parser.add_argument("--only", choices=(AUTOGRAD, *ATEN, STUBS), help="which files")
    parser.add_argument("--aggregated", action="store_true", help="ATen's without headers for each operator")
    parser.add_argument("--flags", action="store_true", help="with --only aten: with each option of torchgen.gen")
    parser.add_argument("--backends", type=Path, help="a folder with more files of backends, for --only stubs")
    wanted = parser.parse_args(words)
    return run(_trials(wanted), wanted)


def _trials(wanted: argparse.Namespace) -> Iterator[Trial]:
    """One for each part of each release."""
    for version in in_order(wanted.versions or known_versions(), wanted):
        with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
            try:
                for what, different in _compared(version, wanted, Path(name)):
                    wrong = f"{len(different)} differ: {', '.join(different[:_SHOWN])}" if different else ""
                    yield Trial(version, wrong, what)
            except (Unavailable, Broken) as error:
                yield Trial(version, str(error))


def _compared(version: str, wanted: argparse.Namespace, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """What is compared of a release, and what of it differs."""
    cache, source = folder / "cache", find_source(version, wanted.wheels.resolve(), folder / "unpacked")
    if wanted.only in (None, AUTOGRAD):
        result = compare(source, folder, cache)
        yield AUTOGRAD, [*result.files, *result.functions]
    if wanted.only == STUBS:
        more = sorted(wanted.backends.resolve().glob("*.yaml")) if wanted.backends else []
        yield STUBS, stubs.compare(source, folder, [*stubs.BACKENDS, *more])
    elif wanted.flags:
        yield from flags.compare(source, minor(version), folder, cache)
    elif wanted.only != AUTOGRAD:
        type_ = wanted.only or ATEN[0]
        yield type_, aten.compare(source, folder, cache, type_, aggregated=wanted.aggregated).different
