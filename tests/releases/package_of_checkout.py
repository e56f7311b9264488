"""A package of a release that has no wheel yet, from a PyTorch checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from releases import Broken

# Folders of a package -> of a checkout.
_TORCHGEN = {
    "torchgen/packaged/ATen/native": "aten/src/ATen/native",
    "torchgen/packaged/ATen/templates": "aten/src/ATen/templates",
    "torchgen/packaged/autograd": "tools/autograd",
}
_INCLUDE = {"ATen": "aten/src/ATen", "c10": "c10", "torch/csrc": "torch/csrc", "torch/headeronly": "torch/headeronly"}
_BODY = "core/TensorBody.h"  # a generated header: not in a checkout


def package_of(checkout: Path, version: str, folder: Path) -> Path:
    """Puts into `folder` what a wheel of the release would contain of torchgen, its data and headers; gives `folder`.

    The header that declares the methods of tensors is written by the checkout's own torchgen. Raises Broken if the
    folder is not a checkout, or its torchgen fails.
    """
    if not (checkout / "torchgen" / "gen.py").is_file():
        raise Broken(f"{checkout} is no PyTorch checkout: it has no torchgen/gen.py")
    shutil.copytree(
        checkout / "torchgen", folder / "torchgen", ignore=shutil.ignore_patterns("__pycache__", "packaged")
    )
    (folder / "torchgen" / "packaged").mkdir()
    (folder / "torchgen" / "packaged" / "__init__.py").touch()
    for target, source in _TORCHGEN.items():
        wanted = [path for path in (checkout / source).rglob("*") if path.suffix != ".pyc" and path.is_file()]
        if target.endswith("native"):  # it has kernels, too
            wanted = [path for path in wanted if path.suffix == ".yaml" and path.parent.name == "native"]
        for path in wanted:
            _copy(path, folder / target / path.relative_to(checkout / source))
    (folder / "torchgen" / "packaged" / "autograd" / "__init__.py").touch()
    for target, source in _INCLUDE.items():
        for path in (checkout / source).rglob("*.h"):
            _copy(path, folder / "torch" / "include" / target / path.relative_to(checkout / source))
    (folder / "torch" / "version.py").write_text(f"__version__ = '{version}'\n")
    if not (folder / "torch" / "include" / "ATen" / _BODY).is_file():
        _generate_body(folder)
    return folder


def _copy(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)


def _generate_body(folder: Path) -> None:
    data, out = folder / "torchgen" / "packaged" / "ATen", folder / "headers"
    command = [sys.executable, "-m", "torchgen.gen", "-s", data, "-d", out, "--generate", "headers"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    header = next(out.rglob(Path(_BODY).name), None)
    if done.returncode or header is None:
        raise Broken(f"torchgen does not write {_BODY}:\n{done.stderr[-2000:]}")
    _copy(header, folder / "torch" / "include" / "ATen" / _BODY)
    shutil.rmtree(out)
