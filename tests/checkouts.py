"""PyTorch checkouts, made of what the packages of releases hold: laid out as PyTorch's repository is, with the
release's own torchgen and a script that calls it as PyTorch's does.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from project import PACKAGED, files_in

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
