"""`gradmill pyi`: in the place of PyTorch's `tools/pyi/gen_pyi.py`.

It takes the arguments of that script, and writes its files. It is a run with the variables that they stand for.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import ClassVar

from gradmill.cli.commands.script import Arguments, Script, build_files, is_same, refuse

STUBS = "stubs"  # the files of that script
_NATIVE = "native-functions-path"
# Options -> the files of a checkout that they name.
_PATHS = {
    _NATIVE: "aten/src/ATen/native/native_functions.yaml",
    "tags-path": "aten/src/ATen/native/tags.yaml",
    "deprecated-functions-path": "tools/autograd/deprecated.yaml",
}


class Pyi(Script):
    """A run that writes type stubs."""

    name = "pyi"
    about = (
        "Writes what PyTorch's tools/pyi/gen_pyi.py writes, in its place, with its arguments (with underscores, too)."
        " Run it in the root of a checkout. The variables cache=DIR (by default build/gradmill), release=, strict= and"
        " format= are those of a run."
    )
    needed = (*_PATHS, "out", "template-dir")
    options_of: ClassVar = {"specs": f"--{_NATIVE} FILE", "generated": "--out DIR"}
    fixed: ClassVar = {
        **dict.fromkeys(("families", "tree", "layout", "shards", "lines"), "the script writes the stubs alone"),
        **dict.fromkeys(("operators", "autograd", "operator_headers", "backends"), "no stub depends on it"),
    }

    @classmethod
    def add_arguments(cls, parser: Arguments) -> None:
        for name, path in _PATHS.items():
            parser.add_argument(f"--{name}", metavar="FILE", default=path, help=f"by default {path}")
        parser.add_argument(
            "--out", metavar="DIR", default=os.curdir, help="the folder to write to; by default this one"
        )
        parser.add_argument(
            "--template-dir", metavar="DIR", default=os.curdir, help="the checkout; by default this one"
        )

    def variables_for(self, options: argparse.Namespace, given: Mapping[str, str]) -> dict[str, str]:
        native = os.path.normpath(options.native_functions_path)
        root = os.path.normpath(native.removesuffix(os.path.normpath(_PATHS[_NATIVE])) or os.curdir)
        if not native.endswith(os.path.normpath(_PATHS[_NATIVE])) or not os.path.isfile(native):
            problem = f"--{_NATIVE} {options.native_functions_path}: not the file of a PyTorch checkout"
            refuse(
                self.name, problem, "run the command in the root of a checkout: packages of torch lack the templates"
            )
        for name, path in (*_PATHS.items(), ("template-dir", os.curdir)):
            value = getattr(options, name.replace("-", "_"))
            if not is_same(value, os.path.join(root, path)):
                refuse(self.name, f"--{name} {value}: not that of the checkout {root}", "leave the option out")
        return {
            **given,
            "specs": root,
            "families": STUBS,
            "tree": "checkout",
            "generated": options.out,
            **build_files(options),
        }


SCRIPT = Pyi
