"""`gradmill generate-code`: in the place of PyTorch's `tools/setup_helpers/generate_code.py`.

It takes the arguments of that script and writes its tree. It is a run with the variables that they stand for.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from gradmill.cli.commands.script import Arguments, Script, build_files, check_selection, is_same, refuse
from gradmill.problems.problem import nearest

SUBSETS = ("libtorch", "pybindings", "python")
_refuse = partial(refuse, "generate-code")
LAZY = "lazy_ts_backend"  # the files that --gen-lazy-ts-backend requests
_NATIVE = "aten/src/ATen/native/native_functions.yaml"
_TAGS = "aten/src/ATen/native/tags.yaml"
_DERIVATIVES = "tools/autograd/derivatives.yaml"
_BACKEND = "aten/src/ATen/native/ts_native_functions.yaml"
_VIEWS = "aten/src/ATen/templates/ViewMetaClassesPythonBinding.cpp"
_ROOT = "run the command in the root of a PyTorch checkout"
_PATHS = {
    "native-functions-path": "native_functions.yaml of the checkout",
    "tags-path": "tags.yaml of the checkout",
    "gen-dir": "the root of the written tree; by default the current folder",
    "install-dir": "the folder to use for torch/csrc in this tree, and for Python files",
    "selected-op-list-path": "a list of the operators to include",
    "operators-yaml-path": "the operators to include, as a selective build lists them",
}
_FLAGS = {
    "disable-autograd": "omit VariableType, ADInplaceOrViewType and TraceType",
    "force-schema-registration": "accepted; no file depends on it",
    "gen-lazy-ts-backend": "also write torch/csrc/lazy/generated, the lazy TorchScript backend",
    "per-operator-headers": "include a header of ATen for each operator in these files",
}
_OTHERS = "generate-code writes PyTorch's files; for others write gradmill specs=. layout="


class GenerateCode(Script):
    """A run that writes the tree of PyTorch's script."""

    name = "generate-code"
    script = "tools/setup_helpers/generate_code.py"
    needed = ("install-dir", "selected-op-list-path", "operators-yaml-path")
    options_of: ClassVar = {
        "generated": "--gen-dir DIR",
        "operators": "--operators-yaml-path FILE or --selected-op-list-path FILE",
    }
    fixed: ClassVar = {
        "families": "write --subset",
        "autograd": "write --disable-autograd",
        "tree": "write --gen-dir or --install-dir",
        "operator_headers": "write --per-operator-headers",
        "layout": f"{_OTHERS}…",
        "shards": f"{_OTHERS}split shards=…",
        "lines": f"{_OTHERS}split lines=1",
    }

    @classmethod
    def add_arguments(cls, parser: Arguments) -> None:
        add = parser.add_argument
        for name, help_ in _PATHS.items():
            default = os.curdir if name == "gen-dir" else None
            add(f"--{name}", metavar="DIR" if name.endswith("dir") else "FILE", default=default, help=help_)
        add("--subset", default="", help=f"one of {', '.join(SUBSETS)}; by default all")
        for name, help_ in _FLAGS.items():
            add(f"--{name}", action="store_true", help=help_)

    def variables_for(self, options: argparse.Namespace, given: Mapping[str, str]) -> dict[str, str]:
        root = _checkout_of(options, given.get("specs", ""))
        subsets = _requested(options, root)
        operators = options.selected_op_list_path or options.operators_yaml_path
        selected = {"operators": operators} if operators else {}
        selected |= {"autograd": "0"} if options.disable_autograd else {}
        return {
            **given,
            "specs": root,
            "generated": options.install_dir or options.gen_dir or os.curdir,
            "tree": "csrc" if options.install_dir else "checkout",
            "families": ",".join(subsets),
            "operator_headers": str(int(options.per_operator_headers)),
            **selected,
            **build_files(options),
        }

    def in_place_of_variables(self, options: argparse.Namespace) -> dict[str, str]:
        given = {} if options.install_dir is None else {"generated": "--install-dir "}
        given |= {} if options.selected_op_list_path is None else {"operators": "--selected-op-list-path "}
        return {**super().in_place_of_variables(options), **given}


SCRIPT = GenerateCode


def _requested(options: argparse.Namespace, root: str) -> list[str]:
    """The subsets to write. Refuses what the script refuses or would ignore."""
    if options.selected_op_list_path is not None and options.operators_yaml_path is not None:
        _refuse("there are two lists of operators", "leave out --selected-op-list-path or --operators-yaml-path")
    check_selection("generate-code", "operators-yaml-path", options.operators_yaml_path)
    if options.subset not in ("", *SUBSETS):
        _refuse(f"--subset {options.subset}", nearest(options.subset, SUBSETS) or f"write one of {', '.join(SUBSETS)}")
    subsets = [options.subset] if options.subset else list(SUBSETS)
    backend = os.path.join(root, _BACKEND)
    if options.gen_lazy_ts_backend and not os.path.isfile(backend):
        _refuse(f"--gen-lazy-ts-backend: {backend}: there is no such file", _ROOT)
    lazy = [LAZY] if options.gen_lazy_ts_backend else []
    views = ["functionalization"] if os.path.isfile(os.path.join(root, _VIEWS)) else []
    return subsets + views + lazy  # the script writes these for any subset


def _checkout_of(options: argparse.Namespace, specs: str) -> str:
    """The root of the checkout with these files. The script takes all others from the checkout that it is part of, and
    Buck gives it a folder with `aten` alone: then the checkout is `specs`, by default the current folder."""
    native, tags = options.native_functions_path or _NATIVE, options.tags_path or _TAGS
    root = specs or os.path.normpath(native).removesuffix(_NATIVE) or os.curdir
    if not os.path.isfile(os.path.join(root, _DERIVATIVES)) and os.path.isfile(_DERIVATIVES):
        root = specs or os.curdir
    for path, place, option in ((native, _NATIVE, "native-functions"), (tags, _TAGS, "tags")):
        if not os.path.isfile(path):
            _refuse(f"--{option}-path {path}: there is no such file", _ROOT)
        if not is_same(path, os.path.join(root, place)) and os.path.isfile(os.path.join(root, _DERIVATIVES)):
            _refuse(f"--{option}-path {path}: this is not the checkout's {place}", "docs/vendors.md: files of your own")
    if not os.path.isfile(os.path.join(root, _DERIVATIVES)):
        _refuse(f"{os.path.join(root, _DERIVATIVES)}: there is no such file", f"{_ROOT}, or name it: specs=DIR")
    return root
