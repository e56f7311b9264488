"""The stubs of backends of a release against its own gen_backend_stubs: `--only stubs` of the campaign `releases`.

The files of backends are those of the tests, and all in a folder, such as those of vendors; mutations of one of them;
one for each dispatch key; one with all operators but those that gradmill refuses, each of which is tried alone; and two
with structured kernels for all operators that may have them, next to what torchgen prints if it does not reject these
for a backend. The verdict and the files must be equal, and each error must have a line.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import forked
from project import files_in
from stubs.mutations import Mutations

from releases import TESTS, Broken, Source

OUT = "out/stubs"  # as files include one another
BACKEND = "PrivateUse1"
BASE = TESTS / "stubs" / "openreg.yaml"
BACKENDS = (BASE, TESTS / "lazy" / "ts_native_functions.yaml")
_FUNCTION = re.compile(r"^- func: ([\w.]+)(\(.*)", re.MULTILINE)
_ENTRY = re.compile(r"^- func: ([\w.]+)\(.*(?:\n  .*)*", re.MULTILINE)
_DISPATCH_KEY = re.compile(r"^    (\w+) = auto\(\)", re.MULTILINE)
_KERNEL = re.compile(r"^static (.*?)(\w+\()", re.MULTILINE)
_META_HEADERS = re.compile(rb"(#include <ATen/ops/\w+_meta\.h>\n)+\n")
_PLACE = re.compile(r"^\S+:\d+:\d+: error: ", re.MULTILINE)


class Case(NamedTuple):
    """A backend: its file, and the C++ file of its kernels if there is one. If operators have structured kernels, the
    file for torchgen has their names alone."""

    file: Path
    kernels: Path | None = None
    structured: tuple[str, ...] = ()

    @property
    def plain(self) -> Path:
        """The file for torchgen."""
        return self.file.with_suffix(".plain") if self.structured else self.file


class Made(NamedTuple):
    """What a program makes of a backend: its error, "" for none, and the files."""

    error: str
    files: dict[str, bytes]


def compare(source: Source, folder: Path, backends: Iterable[Path] = BACKENDS, mutated: int = 100) -> list[str]:
    """Runs both programs on backends, and on mutations of the first one. A line for each difference."""
    root, work = lay_out(source, folder / "root"), folder / "stubs"
    work.mkdir()
    cases = [Case(path) for path in backends]
    header = by_torchgen(root, cases[:1], work / "first")[0].files[f"{BACKEND}NativeFunctions.h"].decode()
    kernels = work / "kernels.cpp"
    kernels.write_text(definitions(header, "OpenRegNativeFunctions"))
    paths = mutations(root, work, mutated)
    cases += [Case(path, None if number % 4 else kernels) for number, path in enumerate(paths)]
    cases += [*of_keys(root, work), *of_all_operators(source, root, work), *of_classes(root, work)]
    wanted = by_torchgen(root, cases, work / "torchgen")
    made = [by_gradmill(source, case, work / "gradmill", work / "cache") for case in cases]
    return [f"{case.file}: {problem}" for case, *both in zip(cases, wanted, made) if (problem := difference(*both))]


def definitions(header: str, class_name: str) -> str:
    """The definitions of all kernels that a header declares, without arguments and bodies."""
    return "".join(f"{result}{class_name}::{name}\n" for result, name in _KERNEL.findall(header))


def lay_out(source: Source, root: Path) -> Path:
    """The release's torchgen as in a checkout: before 2.12 it runs nowhere else."""
    (root / "aten" / "src").mkdir(parents=True)
    (root / "torchgen").symlink_to((source.root / "torchgen").resolve())
    (root / "aten" / "src" / "ATen").symlink_to(root / "torchgen" / "packaged" / "ATen")
    return root


def mutations(root: Path, folder: Path, count: int) -> list[Path]:
    """Mutated files of a backend."""
    mutated, paths = Mutations(BASE.read_text(), [name for name, _ in functions(root)]), []
    for seed in range(count):
        paths.append(folder / f"{seed:03}.yaml")
        paths[-1].write_text(mutated.of(seed))
    return paths


def functions(root: Path) -> list[tuple[str, str]]:
    """The functions of native_functions.yaml, each with the rest of its schema."""
    return _FUNCTION.findall((root / "aten" / "src" / "ATen" / "native" / "native_functions.yaml").read_text())


def of_keys(root: Path, folder: Path) -> list[Case]:
    """A backend for each dispatch key that the release has."""
    keys = sorted({*_DISPATCH_KEY.findall((root / "torchgen" / "model.py").read_text())})
    assert "PrivateUse1" in keys
    autograd = {key: ["linear"] if f"Autograd{key}" in keys else [] for key in keys}
    return [_case(folder / f"key-{key}.yaml", ["abs", "add.Tensor"], own, key=key) for key, own in autograd.items()]


def of_all_operators(source: Source, root: Path, folder: Path) -> list[Case]:
    """A backend with kernels for all operators but those that gradmill refuses, and one for each of these."""
    listed = functions(root)
    names, symint = [name for name, _ in listed], {name for name, schema in listed if "SymInt" in schema}
    refused: list[str] = []
    while True:
        left = [name for name in names if name not in refused]
        whole = _case(folder / "whole.yaml", left, symint=[name for name in left if name in symint])
        words = ["backend-stubs", f"specs={source.specs}", "-s", str(whole.file), "-o", OUT, "format=json"]
        done = forked.gradmill([*words, f"cache={folder / 'cache'}"], folder)
        if not done.status:
            break
        refused += {each["op"] for each in json.loads(done.stderr)["problems"] if each["severity"] == "error"}
    assert len(refused) < len(names) / 10
    alone = [_case(folder / f"alone-{name}.yaml", [name], symint=symint & {name}) for name in refused]
    return [whole, *alone]


def of_classes(root: Path, folder: Path) -> list[Case]:
    """Backends with structured kernels for all operators that may have them, and functions for some others."""
    text = (root / "aten" / "src" / "ATen" / "native" / "native_functions.yaml").read_text()
    listed = [entry[1] for entry in _ENTRY.finditer(text) if "\n  structured: True" in entry[0]]
    assert len(listed) > 100
    return [with_classes(folder / f"classes-{guard}.yaml", listed, ["relu"], guard) for guard in ("true", "false")]


def with_classes(
    file: Path, structured: Sequence[str], functions: Iterable[str], guard: str, symint: Iterable[str] = ()
) -> Case:
    """A backend with structured kernels."""
    case = Case(file, structured=tuple(structured))
    tail = "".join(["symint:\n", *(f"  - {name}\n" for name in symint)])
    head = f"backend: {BACKEND}\ncpp_namespace: mine\ndevice_guard: {guard}\nuse_out_as_primary: true\nsupported:\n"
    head += "".join(f"  - {name}\n" for name in functions)
    case.plain.write_text(head + "".join(f"  - {name}\n" for name in structured) + tail)
    file.write_text(head + "".join(f"  - {name}: {{structured: true}}\n" for name in structured) + tail)
    return case


def _case(
    file: Path, supported: Iterable[str], autograd: Iterable[str] = (), symint: Iterable[str] = (), key: str = BACKEND
) -> Case:
    lists = {"supported": supported, "autograd": autograd, "symint": symint}
    items = ("".join([f"{name}:\n", *(f"  - {each}\n" for each in own)]) for name, own in lists.items() if own)
    file.write_text(f"backend: {key}\ncpp_namespace: mine\ndevice_guard: true\n{''.join(items)}")
    return Case(file)


def by_torchgen(root: Path, cases: Sequence[Case], folder: Path) -> list[Made]:
    """What the release's own program makes of backends. Broken if it cannot be run."""
    folders = [folder / str(number) for number in range(len(cases))]
    for each in folders:
        each.mkdir(parents=True)
    words = [
        [str(case.plain), OUT, str(case.kernels or ""), str(at), case.structured] for case, at in zip(cases, folders)
    ]
    command = [sys.executable, str(TESTS / "stubs" / "by_torchgen.py"), str(root)]
    lines = "".join(f"{json.dumps(each)}\n" for each in words)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Broken(done.stderr[-2000:])
    return [Made(error, {} if error else files_in(at / OUT)) for error, at in zip(json.loads(done.stdout), folders)]


def by_gradmill(source: Source, case: Case, folder: Path, cache: Path) -> Made:
    """What gradmill makes of a backend."""
    folder.mkdir(exist_ok=True)
    words = ["backend-stubs", f"specs={source.specs}", "-s", str(case.file), "-o", OUT, f"cache={cache}"]
    words += ["--impl-path", str(case.kernels)] if case.kernels else []
    done = forked.gradmill(words, folder)
    return Made(done.stderr, {}) if done.status else Made("", without_meta(files_in(folder / OUT)))


def without_meta(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files without the headers of meta functions, which torchgen never includes for a backend."""
    return {name: _META_HEADERS.sub(b"", data) for name, data in files.items()}


def difference(wanted: Made, made: Made) -> str:
    """How what gradmill makes differs, "" if it does not."""
    if bool(wanted.error) != bool(made.error):
        return f"torchgen: {wanted.error[-300:] or 'accepted'}; gradmill: {made.error[:300] or 'accepted'}"
    if made.error:
        return "" if _PLACE.search(made.error) else f"an error without a line: {made.error[:300]}"
    names = {name for name in wanted.files.keys() | made.files.keys() if wanted.files.get(name) != made.files.get(name)}
    return ", ".join(sorted(names))
