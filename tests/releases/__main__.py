"""python -m tests.releases: see the package."""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # as pytest has it on the path
import releases
from pipeline.releases import minor
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


def main() -> int:
    parser = argparse.ArgumentParser(description=releases.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="releases; all known ones by default")
    parser.add_argument("--wheels", type=Path, default=WHEELS, help="where wheels are kept (GRADMILL_WHEELS)")
    parser.add_argument("--only", choices=(AUTOGRAD, *ATEN, STUBS), help="which files")
    parser.add_argument("--aggregated", action="store_true", help="ATen's without headers for each operator")
    parser.add_argument("--flags", action="store_true", help="with --only aten: with each option of torchgen.gen")
    parser.add_argument("--backends", type=Path, help="a folder with more files of backends, for --only stubs")
    options = parser.parse_args()
    backends = [*stubs.BACKENDS, *sorted(options.backends.resolve().glob("*.yaml") if options.backends else ())]
    equal = True
    if options.only in (None, AUTOGRAD):
        print(HEADING, flush=True)
    for version in options.versions or known_versions():
        with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
            folder = Path(name)
            try:
                source = find_source(version, options.wheels.resolve(), folder / "unpacked")
                if options.only in (None, AUTOGRAD):
                    equal = _print_autograd(version, compare(source, folder, folder / "cache")) and equal
                if options.only == STUBS:
                    equal = _print_result(version, stubs.compare(source, folder, backends)) and equal
                elif options.flags:
                    equal = _print_flags(version, source, folder) and equal
                elif options.only != AUTOGRAD:
                    result = aten.compare(
                        source, folder, folder / "cache", options.only or ATEN[0], aggregated=options.aggregated
                    )
                    equal = _print_result(version, result) and equal
            except (Unavailable, Broken) as error:
                print(f"{version:10}{error}", flush=True)
                equal = False
    return 0 if equal else 1


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


if __name__ == "__main__":
    sys.exit(main())
