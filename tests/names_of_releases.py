"""Writes the tables of `pipeline/releases/names` from the packages of all known releases.

    .venv/bin/python tests/names_of_releases.py

The torch wheels are taken from the folder that `GRADMILL_WHEELS` names, or downloaded, as by tests/releases.py. Of each
are read: native_functions.yaml (the names of ATen's functions and methods), the headers that declare tensors, numbers,
lists and optional values (their methods), those with ATen functions that no YAML declares, and `FunctionsManual.h`.
"""

from __future__ import annotations

import re
from zipfile import ZipFile

from releases import ROOT, WHEELS, download, find_wheel, known_versions

FOLDER = ROOT / "pipeline" / "releases" / "names"
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
_NAME = re.compile(r"^- func: (?:\w+::)?(\w+)", re.MULTILINE)
_CALLED = re.compile(r"\b([a-z_]\w*)\s*\(")

Row = str
Table = dict[Row, set[str]]  # to the releases that have it


def main() -> None:
    tables: dict[str, Table] = {f"{name}.txt": {} for name in ("functions", "others", "methods", "helpers")}
    versions = [".".join(version.split(".")[:2]) for version in known_versions()]
    for version, short in zip(known_versions(), versions):
        wheel = find_wheel(version, WHEELS) or download(version, WHEELS)
        with ZipFile(wheel) as archive:
            for name, rows in rows_of(archive).items():
                for row in rows:
                    tables[name].setdefault(row, set()).add(short)
    for name, table in tables.items():
        lines = (line for row in sorted(table) for line in spans(row, table[row], versions))
        head = "# Written by tests/names_of_releases.py.\n"
        (FOLDER / name).write_text(head + "".join(f"{line}\n" for line in lines))


def rows_of(archive: ZipFile) -> dict[str, set[Row]]:
    """What one package says."""
    from pipeline.cpp.header import read_header

    members = set(archive.namelist())

    def text(name: str) -> str:
        return archive.read(name).decode() if name in members else ""

    functions = set(_NAME.findall(text(NATIVE)))
    others = {name for header in FUNCTIONS for name in read_header(text(INCLUDE + header)).functions} - functions
    methods = {name for header in CLASSES for name in _CALLED.findall(text(INCLUDE + header))}
    declared = read_header(text(INCLUDE + HELPERS)).functions
    helpers = {f"{name} {arity.least} {arity.most}" for name, arity in declared.items()}
    return {"functions.txt": functions, "others.txt": others, "methods.txt": methods, "helpers.txt": helpers}


def spans(row: Row, found: set[str], versions: list[str]) -> list[str]:
    """The row with each stretch of releases that have it; alone where all have."""
    if len(found) == len(versions):
        return [row]
    lines, start = [], None
    for version, following in zip(versions, [*versions[1:], ""]):
        start = version if version in found and start is None else start
        if version in found and following not in found:
            lines.append(f"{row}; {start}-{version}")
            start = None
    return lines


if __name__ == "__main__":
    main()
