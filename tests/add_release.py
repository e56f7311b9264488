"""Adds releases to those that gradmill knows, or reads known ones again: python -m tests.add_release VERSION …

Of each, the torch wheel is downloaded (once: it is kept, in the folder that `GRADMILL_WHEELS` names), the release is
added to `KNOWN` in `pipeline/gradmill/releases/table.py` and to the README, and the names that its formulas may call
and the digests of its generator's files to the tables of `pipeline/gradmill/releases/names`. Then gradmill is compared
with the release's own torchgen on its package, all files and all functions, and on a checkout. What differs is listed,
as are warnings about formulas: all of these compile. Where a list of torchgen's differs, the rows that begin or end are
printed, those of sets and mappings as `pipeline/gradmill/releases/facts` has them. What else differs needs rows, too,
or lines with `//>=` the release in the texts of families: add them, and run this again.

Before there is a wheel: `--checkout FOLDER` reads a PyTorch checkout of the release's branch in its place.

The names are read from native_functions.yaml (ATen's functions and methods), from the headers that declare tensors,
numbers, lists and optional values (their methods), from those with ATen functions that no YAML declares, and from
`FunctionsManual.h`.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from zipfile import Path as Member
from zipfile import ZipFile

if __name__ == "__main__":  # as pytest has it on the path
    sys.path.insert(0, str(Path(__file__).parent))

import releases
import trees
from releases import ROOT, WHEELS, Broken, Source, Unavailable, download, find_wheel, gradmill
from releases.generator import rows_of_generator
from releases.package_of_checkout import package_of
from releases.rules import missing_rows

README = ROOT / "README.md"
TABLE = ROOT / "pipeline" / "gradmill" / "releases" / "table.py"
FOLDER = ROOT / "pipeline" / "gradmill" / "releases" / "names"
TABLES = ("functions", "others", "methods", "helpers", "generator")
HEAD = "# Written by python -m tests.add_release.\n"
NATIVE = "torchgen/packaged/ATen/native/native_functions.yaml"
INCLUDE = "torch/include/"
HELPERS = "torch/csrc/autograd/FunctionsManual.h"
# What formulas call methods of.
CLASSES = """
    ATen/core/TensorBody.h ATen/core/TensorBase.h ATen/core/Generator.h ATen/TensorGeometry.h c10/core/Scalar.h
    c10/core/SymInt.h c10/core/SymBool.h c10/core/SymFloat.h c10/core/TensorOptions.h c10/core/Device.h
    ATen/NestedTensorImpl.h c10/util/ArrayRef.h torch/headeronly/util/HeaderOnlyArrayRef.h
    c10/util/OptionalArrayRef.h c10/core/Storage.h
""".split()
# What formulas call that no YAML declares: these headers are part of what generated sources include.
FUNCTIONS = """
    ATen/ExpandUtils.h ATen/TensorUtils.h ATen/ScalarOps.h ATen/TensorSubclassLikeUtils.h ATen/WrapDimUtils.h
    ATen/TensorOperators.h ATen/core/Reduction.h ATen/TracerMode.h ATen/core/functional.h
    torch/csrc/autograd/VariableTypeUtils.h torch/csrc/autograd/functions/utils.h ATen/core/grad_mode.h
""".split()
_SCHEMA = re.compile(r"^- func: (?:\w+::)?(\w+)[^(]*\((.*)\) *->", re.MULTILINE)
_CALLED = re.compile(r"\b([a-z_]\w*)\s*\(")
_PARAMETERS = re.compile(r"\b([a-z_]\w*)\s*\(((?:[^()]|\([^()]*\))*)\)")
_COMMENT = re.compile(r"//.*")
_KNOWN = re.compile(r"(?<=^KNOWN = \(\n)(?: {4}\"[\d.]+\",\n)+(?=\)$)", re.MULTILINE)
_NAMES_OF = re.compile(r"(?<=^NAMES_OF = \")[\d.]+", re.MULTILINE)
_RANGE = re.compile(r"[\d.]+ to [\d.]+(?= are supported)")  # in the README
_SHOWN = 10  # that differ, of each kind but rows

Row = str
Table = dict[Row, set[str]]  # to the minor releases that have it


class Failed(Exception):
    """A release that cannot be added."""


class Added(NamedTuple):
    """What names all releases: the text of the table, of the README, and of the tables of names."""

    table: str
    readme: str
    names: dict[str, str]


def add(
    version: str, package: Path | Member, generator: set[Row], table: str, readme: str, names: dict[str, str]
) -> Added:
    """Adds a release to the texts of tables, from its package; one of the same minor release gives way to it.

    `package` is a folder with the files of a wheel, or the root of one. `generator`: the rows of that table. Raises
    Failed.
    """
    match = _KNOWN.search(table)
    if match is None or re.fullmatch(r"\d+\.\d+\.\d+", version) is None:
        raise Failed(f"{version} is no release, such as 2.16.0" if match else f"{TABLE}: there is no table KNOWN")
    before = re.findall(r"[\d.]+(?=\")", match.group())
    known = sorted((version, *(each for each in before if minor(each) != minor(version))), key=_key)
    table = _KNOWN.sub("".join(f'    "{each}",\n' for each in known), table)
    table = _NAMES_OF.sub(known[-1], table)
    read = {**rows_of(package), "generator": generator}
    minors, was = [minor(each) for each in known], [minor(each) for each in before]
    readme = _RANGE.sub(f"{minors[0]} to {minors[-1]}", readme)
    return Added(table, readme, {n: merged(names[n], read[n], minor(version), was, minors) for n in TABLES})


def merged(text: str, rows: set[Row], release: str, before: list[str], versions: list[str]) -> str:
    """The text of a table of names for `versions` in which a release has these rows. `before`: the releases in it."""
    table: Table = {}
    for line in text.splitlines():
        row, _, span = line.partition("; ")
        if not row.startswith("#"):
            since, _, until = span.partition("-")
            table.setdefault(row, set()).update(
                each
                for each in before
                if (not since or _key(since) <= _key(each)) and (not until or _key(each) <= _key(until))
            )
    for row in {*table, *rows}:
        table.setdefault(row, set()).discard(release)
        if row in rows:
            table[row].add(release)
    return HEAD + "".join(f"{line}\n" for row in sorted(table) for line in spans(row, table[row], versions))


def spans(row: Row, result: set[str], versions: list[str]) -> list[str]:
    """The row with each stretch of releases that have it, alone where all have. That of the newest has no end."""
    if len(result) == len(versions):
        return [row]
    lines, start = [], ""
    for version, following in zip(versions, [*versions[1:], ""]):
        start = start or (version if version in result else "")
        if start and following not in result:
            lines.append(f"{row}; {start}-{version if following else ''}")
            start = ""
    return lines


def rows_of(package: Path | Member) -> dict[str, set[Row]]:
    """The rows that a package has for each table of names."""
    from gradmill.cpp.declared import ANY
    from gradmill.cpp.header import overload_of, read_header
    from gradmill.cpp.overloads import OTHER_FUNCTIONS, OTHER_METHODS

    def text(name: str) -> str:
        member = package / name
        return member.read_text(encoding="utf-8") if member.is_file() else ""

    for name in (NATIVE, INCLUDE + HELPERS):
        if not (package / name).is_file():
            raise Failed(f"{package} does not contain {name}")
    functions: dict[str, int] = {}
    for name, arguments in _SCHEMA.findall(text(NATIVE)):
        functions[name] = max(functions.get(name, 0), len(overload_of(arguments.replace("*, ", "")).types))
    others = {name for header in FUNCTIONS for name in read_header(text(INCLUDE + header)).overloads} - {*functions}
    methods = {name for header in CLASSES for name in _CALLED.findall(text(INCLUDE + header))}
    takes: dict[str, int] = {}  # of methods
    for header in CLASSES:
        for name, parameters in _PARAMETERS.findall(_COMMENT.sub("", text(INCLUDE + header))):
            takes[name] = max(takes.get(name, 0), len(overload_of(parameters).types) if header == CLASSES[0] else ANY)
    functions |= dict.fromkeys(OTHER_FUNCTIONS & functions.keys(), ANY)
    takes |= dict.fromkeys(OTHER_METHODS, ANY)
    counted = {name: takes.get(name, ANY) for name in methods}
    declared = read_header(text(INCLUDE + HELPERS)).overloads
    helpers = {
        f"{name} {min(each.least for each in own)} {max(len(each.types) for each in own)}"
        for name, own in declared.items()
    }
    return {"functions": _counted(functions), "others": others, "methods": _counted(counted), "helpers": helpers}


def _counted(result: dict[str, int]) -> set[Row]:
    """Names with the most arguments that each takes, where that is known."""
    from gradmill.cpp.declared import ANY

    return {name if most >= ANY else f"{name} {most}" for name, most in result.items()}


def minor(version: str) -> str:
    return version.rpartition(".")[0]


def _key(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def write(version: str, package: Path | Member, root: Path) -> None:
    """Adds a release to the tables on disk. `root` holds its torchgen."""
    names = {name: (FOLDER / f"{name}.txt").read_text() for name in TABLES}
    with tempfile.TemporaryDirectory(prefix="gradmill-") as folder:
        generator = rows_of_generator(root, Path(folder).resolve())
    added = add(version, package, generator, TABLE.read_text(), README.read_text(), names)
    for name, text in added.names.items():
        (FOLDER / f"{name}.txt").write_text(text)
    TABLE.write_text(added.table)
    README.write_text(added.readme)


def check(version: str, source: Source) -> bool:
    """Prints how a release compares; whether nothing is left to do for it."""
    parts: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
        folder = Path(name)
        try:
            parts["rule"] = missing_rows(version, source.root)
            result = releases.compare(source, folder, folder / "cache")
            parts["file"], parts["function"] = result.files, result.functions
            parts["file of a checkout"] = [*trees.trees(version, source, folder, ["libtorch"], ())["--subset libtorch"]]
            parts["false"] = warned(source, folder)
            print(f"{version}: {result.written} files, {result.total} functions", flush=True)
        except Broken as error:
            parts["error"] = [str(error)]
            print(version)
    for what, lines in parts.items():
        shown = len(lines) if what == "rule" else _SHOWN  # every missing row has to be written
        for each in lines[:shown]:
            print(f"{'':10}{what}: {each}")
        if len(lines) > shown:
            print(f"{'':10}{what}: {len(lines) - shown} more")
    return not any(parts.values())


def warned(source: Source, folder: Path) -> list[str]:
    """The warnings about a release's own package."""
    message = gradmill(source, folder, folder / "cache", "check")
    return [line for line in message.splitlines() if ": warning: " in line]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="+", metavar="VERSION", help="a release, such as 2.16.0")
    parser.add_argument("--wheels", type=Path, default=WHEELS, help="where wheels are kept (GRADMILL_WHEELS)")
    parser.add_argument("--checkout", type=Path, metavar="FOLDER", help="a PyTorch checkout of the one VERSION")
    options = parser.parse_args()
    if options.checkout and len(options.versions) > 1:
        parser.error("--checkout is of one VERSION")
    with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
        try:
            done = _add_all(options, Path(name))
        except (Unavailable, Broken, Failed) as error:
            print(error, file=sys.stderr)
            return 1
    if not done:
        print(f"What differs needs rows in {TABLE.relative_to(ROOT)}, or lines in the texts of families.")
    return 0 if done else 1


def _add_all(options: argparse.Namespace, folder: Path) -> bool:
    """Adds each release, then compares each; whether nothing is left to do. Unpacks packages into `folder`."""
    wheels, sources = options.wheels.resolve(), {}
    for version in options.versions:
        if options.checkout:
            package = package_of(options.checkout.resolve(), version, folder / version)
            write(version, package, package)
            sources[version] = Source(str(package / "torchgen" / "packaged"), package)
        else:
            sources[version] = releases.find_source(version, wheels, folder / version)
            with ZipFile(find_wheel(version, wheels) or download(version, wheels)) as archive:
                write(version, Member(archive), sources[version].root)
    checked = [check(version, source) for version, source in sources.items()]
    return all(checked)


if __name__ == "__main__":
    sys.exit(main())
