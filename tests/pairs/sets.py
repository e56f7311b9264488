"""The spec sets: one small set of operators in each form that a set may have, and described sets of each shape."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

from checkouts import PLACES
from never_wrong.specset import of_families, read_specs
from project import CORE, PACKAGED, ROOT

from gradmill.families.table import FAMILIES
from gradmill.releases import KNOWN, minor

NEWER = "99.0.0"  # a release that is not known
ALL = tuple(minor(version) for version in KNOWN)
OF_SETS = tuple(name for name, family in FAMILIES.items() if family.row.by_default and family.unit != "graph")
OPERATORS = ["add", "mul", "exp", "full", "transpose"]
MISH = """
- func: mish(Tensor self) -> Tensor
  structured_delegate: mish.out
  python_module: nn

- func: mish_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: mish.out
  python_module: nn

- func: mish.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  python_module: nn
  dispatch:
    CPU: mish_out
"""  # what examples/vendor has derivatives of
GRAPH = '''"""A graph of the operators that the small set has."""

from torch import Tensor


def polynomial(x: Tensor, y: Tensor) -> Tensor:
    return (x * y + x).exp()
'''

Texts = dict[str, bytes]  # path -> bytes


class Form(NamedTuple):
    """A form of a set. `make` writes it into the folder of a case, with the release that it is to say."""

    make: Callable[[Path, str], None]
    specs: str = "set"  # the path of the set, or its name
    line: tuple[str, str] = ("set/derivatives.yaml", "self: grad * result.conj()")  # a formula: the file, the text
    families: tuple[str, ...] = OF_SETS  # those that it has templates for
    by_default: tuple[str, ...] = ()  # those that are made where none are asked for, where that is not all
    releases: tuple[str, ...] = ALL
    graphs: bool = True
    named: bool = False  # whether `specs` is no path
    is_file: bool = False
    may_be_silent: bool = True  # whether it may leave its release to the command, or say one that is not known
    slow: bool = False
    same: str = ""  # sets with the same word here have the same operators and templates
    called: str = ""  # the name of the set, where it is not that of its folder
    described: bool = False

    def edit(self, folder: Path, change: Callable[[str], str]) -> None:
        """Changes the line."""
        name, line = self.line
        path, _, member = name.partition("!")
        old, new = f"{line}\n".encode(), f"{change(line)}\n".encode()
        texts = _members(folder / path) if member else {"": (folder / path).read_bytes()}
        assert texts[member].count(old) == 1, name
        texts[member] = texts[member].replace(old, new)
        if member:
            _zip(folder / path, texts)
        else:
            (folder / path).write_bytes(texts[member])


def _members(path: Path) -> Texts:
    with ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _zip(path: Path, texts: Texts) -> None:
    with ZipFile(path, "w") as archive:
        for name, data in texts.items():
            archive.writestr(name, data)


def _write(folder: Path, texts: Texts) -> None:
    for name, data in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


# ---- one set of operators, in each form


@cache
def _small() -> Texts:
    """A part of the core set, as a flat folder."""
    result = {name: text.encode() for name, text in of_families(read_specs(CORE), OPERATORS).texts().items()}
    templates = {f"templates/{path.name}": path.read_bytes() for path in sorted((CORE / "templates").iterdir())}
    return {**result, **templates}


_PLACES = {"flat": {name: name for name in PACKAGED}, "packaged": PACKAGED, "checkout": PLACES}


def _laid_out(form: str) -> Texts:
    """The small set with its files where a form has them."""
    names = {name: name.partition("/") for name in _small()}
    return {_PLACES[form][first] + slash + rest: _small()[name] for name, (first, slash, rest) in names.items()}


def _version_file(name: str, release: str, text: str = "{}\n") -> Texts:
    return {name: text.format(release).encode()} if release else {}


def _flat(folder: Path, release: str) -> None:
    _write(folder / "set", {**_laid_out("flat"), **_version_file("RELEASE", release)})


def _packaged(folder: Path, release: str) -> None:
    _write(folder / "set", {**_laid_out("packaged"), **_version_file("RELEASE", release)})


def _checkout(folder: Path, release: str) -> None:
    _write(folder / "set", {**_laid_out("checkout"), **_version_file("version.txt", f"{release}a0" if release else "")})


WHEEL = "torch-0-none-any.whl"
PACKAGED = "torchgen/packaged/"
_MANUAL = "torch/include/torch/csrc/autograd/FunctionsManual.h"  # where a wheel declares what formulas call


def _wheel(folder: Path, release: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    version = _version_file("torch/version.py", release, "__version__ = '{}'\n")
    packaged = {f"{PACKAGED}{name}": data for name, data in _laid_out("packaged").items()}
    headers = [data for name, data in _small().items() if name.startswith("templates/core_") and name.endswith(".h")]
    _zip(folder / WHEEL, {**packaged, _MANUAL: b"\n".join(headers), **version})


# ---- described sets


def _copied(source: Path, wanted: tuple[str, ...] = ()) -> Texts:
    paths = (path for path in sorted(source.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    result = {path.relative_to(source).as_posix(): path.read_bytes() for path in paths}
    return {name: data for name, data in result.items() if not wanted or name.startswith(wanted)}


def _layers(folder: Path, release: str) -> None:
    """The set that the tests of descriptions edit, over its own base."""
    tests = ROOT / "tests"
    base = {name: data for name, data in _copied(tests / "bad" / "base").items() if name != "RELEASE"}
    _write(folder / "set", _copied(tests / "vendors" / "set"))
    _write(folder / "base", {**base, **_version_file("RELEASE", release)})


def _over_small(folder: Path, release: str, texts: Texts, native: str = "") -> None:
    """A description over the small set."""
    base = {**_small(), **_version_file("RELEASE", release)}
    base["native_functions.yaml"] += native.encode()
    _write(folder / "base", base)
    _write(folder / "set", texts)


def _toy(folder: Path, release: str) -> None:
    """The example of a vendor, over the small set in the place of torch, which lacks what stubs of a backend need."""
    texts = _copied(ROOT / "examples" / "vendor", ("specset.toml", "specs/", "templates/", "csrc/toy_"))
    old = b'specs = "torch"'
    assert texts["specset.toml"].count(old) == 1
    own = texts["specset.toml"].replace(old, b'specs = "../base"')
    own, stubs = re.subn(rb"(?m)^families = .*\n\n|^\[\[backend\]\]\n(.+\n)+\n", b"", own)
    assert stubs == 2
    texts["specset.toml"] = own
    _over_small(folder, release, texts, MISH)


def _nothing(folder: Path, release: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)


_EXP = Form(_flat).line[1]

SETS: dict[str, Form] = {
    "flat": Form(_flat, same="small"),
    "packaged": Form(_packaged, line=("set/autograd/derivatives.yaml", _EXP), same="small"),
    "checkout": Form(_checkout, line=("set/tools/autograd/derivatives.yaml", _EXP), same="small"),
    "wheel": Form(
        _wheel,
        WHEEL,
        (f"{WHEEL}!{PACKAGED}autograd/derivatives.yaml", _EXP),
        same="small",
        is_file=True,
        called="torch-0",
    ),
    "core": Form(_nothing, "core", releases=("2.13",), named=True, may_be_silent=False),
    "layers": Form(
        _layers,
        line=("set/plugin/config/derivatives.yaml", "self: swish_gradient(grad, self)"),
        families=("nodes", "variable_type"),
        releases=("2.12", "2.13", "2.14"),
        graphs=False,
        called="accel",
        described=True,
    ),
    "toy": Form(
        _toy,
        line=("set/specs/toy_derivatives.yaml", "self: grad * (3 * self * self).conj()"),
        by_default=("nodes", "variable_type", "inplace_or_view", "view_funcs"),
        releases=("2.13", "2.14", "2.15"),
        graphs=False,
        called="toy",
        described=True,
    ),
    "torch": Form(_nothing, "torch", releases=("2.13",), named=True, graphs=False, may_be_silent=False, slow=True),
}
