"""`gradmill pyi`: in the place of PyTorch's `tools/pyi/gen_pyi.py`, a run with what its arguments stand for."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import ClassVar

from gradmill.cli.commands.script import Arguments, Script, build_files, is_same, refuse

_NATIVE = "native-functions-path"
_ROOT = "run in the root of a checkout, or name all its files: packages of torch lack the templates"
_PATHS = {  # options -> the files of a checkout that they name
    _NATIVE: "aten/src/ATen/native/native_functions.yaml",
    "tags-path": "aten/src/ATen/native/tags.yaml",
    "deprecated-functions-path": "tools/autograd/deprecated.yaml",
}
_FOLDERS = {"out": "the folder to write to", "template-dir": "the checkout"}


class Pyi(Script):
    """A run that writes type stubs."""

    name = "pyi"
    script = "tools/pyi/gen_pyi.py"
    needed = (*_PATHS, *_FOLDERS)
    options_of: ClassVar = {"specs": f"--{_NATIVE} FILE", "generated": "--out DIR"}
    fixed: ClassVar = {
        **dict.fromkeys(("families", "tree", "layout", "shards", "lines"), "the script writes the stubs alone"),
        **dict.fromkeys(("operators", "autograd", "operator_headers", "backends"), "no stub depends on it"),
    }

    @classmethod
    def add_arguments(cls, parser: Arguments) -> None:
        for name, path in _PATHS.items():
            parser.add_argument(f"--{name}", metavar="FILE", default=path, help=f"by default {path}")
        for name, meaning in _FOLDERS.items():
            parser.add_argument(f"--{name}", metavar="DIR", default=".", help=f"{meaning}; by default this folder")

    def variables_for(self, options: argparse.Namespace, given: Mapping[str, str]) -> dict[str, str]:
        root = os.path.normpath(options.native_functions_path).removesuffix(_PATHS[_NATIVE]) or "."
        for name, path in (*_PATHS.items(), ("template-dir", ".")):
            value = getattr(options, name.replace("-", "_"))
            if not os.path.exists(value) or not is_same(value, os.path.join(root, path)):
                refuse(self.name, f"--{name} {value}: not that of a PyTorch checkout", _ROOT)
        fixed = {"families": "stubs", "tree": "checkout"}
        return {**given, **fixed, "specs": root, "generated": options.out, **build_files(options)}


SCRIPT = Pyi
