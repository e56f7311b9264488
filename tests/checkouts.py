"""PyTorch checkouts, made of what the packages of releases hold, and built as theirs are.

For each release the wheel is unpacked, its files are laid out as PyTorch's repository has them, the release's own
torchgen is run there as the build of a checkout does it, gradmill is run on the checkout, and all files are compared,
those with the generated headers in the wheel, too, which the release's own build made.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from never_wrong.campaign import Trial, in_order, options, run
from project import PACKAGED, files_in
from releases import WHEELS, Source, Unavailable, find_source, gradmill, known_versions

TESTS = Path(__file__).resolve().parent
PLACES = {
    "native_functions.yaml": "aten/src/ATen/native/native_functions.yaml",
    "tags.yaml": "aten/src/ATen/native/tags.yaml",
    "derivatives.yaml": "tools/autograd/derivatives.yaml",
    "templates": "tools/autograd/templates",
}
LAZY_PLACES = {
    "ts_native_functions.yaml": "aten/src/ATen/native/ts_native_functions.yaml",
    "shape_inference.h": "torch/csrc/lazy/core/shape_inference.h",
    "ts_native_functions.cpp": "torch/csrc/lazy/ts_backend/ts_native_functions.cpp",
}
SCRIPT = "tools/setup_helpers/generate_code.py"
GENERATED = "torch/csrc/autograd/generated"
HEADERS = "torch/include/torch/csrc/autograd/generated"  # in a package
BINDINGS = ("python_return_types.h",)  # that gradmill does not make
_GUARD = re.compile(rb"\A#if !defined\(TORCH_STABLE_ONLY\).*\n|\n#else\n#error .*\n#endif .*\n\Z")


def lay_out(folder: Path, path: Callable[[str], Path], version: str) -> Path:
    """The files of a spec set, as PyTorch's repository has them; `path` says where a file of the set is."""
    for name, place in PLACES.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if name == "templates" else shutil.copyfile)(path(name), target)
    (folder / "version.txt").write_text(f"{version}\n")
    return folder


def build(checkout: Path, torchgen: Path) -> dict[str, bytes]:
    """The files that the build of a checkout generates; `torchgen` is the folder of the release's package."""
    complete(checkout, torchgen, "checkout_build.py")
    run_script(checkout)
    return files_in(checkout / GENERATED)


def complete(checkout: Path, torchgen: Path, script: str) -> None:
    """Adds what a checkout's script needs. `script`: what stands in for it, a module next to this one."""
    (checkout / "torchgen").symlink_to(torchgen)
    autograd, place = checkout / "tools" / "autograd", checkout / SCRIPT
    for module in (torchgen / "packaged" / "autograd").glob("*.py"):
        (autograd / module.name).symlink_to(module)
    for package in (checkout / "tools", autograd):
        (package / "__init__.py").touch()
    place.parent.mkdir(parents=True)
    shutil.copyfile(TESTS / script, place)


def whole_checkout(package: Path, folder: Path, version: str = "") -> Path:
    """A checkout with all files of a package that PyTorch's script reads, and a lazy backend."""
    packaged = package / "torchgen" / "packaged"
    lay_out(folder, lambda name: packaged / PACKAGED[name], version)
    shutil.copyfile(packaged / "autograd" / "deprecated.yaml", folder / "tools" / "autograd" / "deprecated.yaml")
    shutil.copytree(packaged / "ATen" / "templates", folder / "aten" / "src" / "ATen" / "templates", dirs_exist_ok=True)
    complete(folder, packaged.parent, "checkout_script.py")
    add_lazy(folder)
    return folder


def add_lazy(checkout: Path, folder: Path = TESTS / "lazy") -> None:
    """Adds the files of a lazy backend, as `folder` has them."""
    for name, place in LAZY_PLACES.items():
        target = checkout / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, target)


def run_script(checkout: Path, *arguments: str) -> None:
    """Runs a checkout's script, as its build does."""
    subprocess.run([sys.executable, SCRIPT, *arguments], cwd=checkout, check=True)


def headers_in(package: Path) -> dict[str, bytes]:
    """The generated headers of a package that gradmill makes, without the guard that packaging adds since 2.10."""
    made = {name: data for name, data in files_in(package / HEADERS).items() if name not in BINDINGS}
    return {name: _GUARD.sub(b"", data) for name, data in made.items()}


class Result(NamedTuple):
    """How many files there are, and those that differ."""

    total: int
    wrong: list[str]


def compare(version: str, source: Source, folder: Path) -> Result:
    """Compares what gradmill makes of a checkout with what its own build does, and with the headers of the package."""
    packaged = source.root / "torchgen" / "packaged"
    checkout = lay_out(folder / "pytorch", lambda name: packaged / PACKAGED[name], version)
    gradmill(Source(str(checkout), source.root), folder, folder / "cache", families="")
    made, built, shipped = files_in(folder / "files"), build(checkout, packaged.parent), headers_in(source.root)
    wrong = [name for name in sorted({*made, *built}) if made.get(name) != built.get(name)]
    wrong += [f"{HEADERS}/{name}" for name, data in shipped.items() if made[name] != data]
    return Result(len({*made, *built}) + len(shipped), wrong)


def trials(wanted: argparse.Namespace) -> Iterator[Trial]:
    """One for each release."""
    for version in in_order(wanted.versions or known_versions(), wanted):
        with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
            folder = Path(name)
            try:
                source = find_source(version, wanted.wheels.resolve(), folder / "unpacked")
            except Unavailable as error:
                yield Trial(version, str(error))
                continue
            total, wrong = compare(version, source, folder)
        print(f"{version:10}{total - len(wrong)}/{total} files equal", flush=True)
        yield Trial(version, ", ".join(wrong[:10]))


def main(words: Sequence[str]) -> int:
    parser = options(__doc__, None)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="releases; all known ones by default")
    parser.add_argument("--wheels", type=Path, default=WHEELS, help="where wheels are kept (GRADMILL_WHEELS)")
    wanted = parser.parse_args(words)
    return run(trials(wanted), wanted)
