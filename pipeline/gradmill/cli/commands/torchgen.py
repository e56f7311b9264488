"""`gradmill torchgen`: in the place of PyTorch's `python -m torchgen.gen`.

It takes the arguments of that program, and writes its files. It is a run with the variables that they stand for. What
gradmill does not do is refused, never ignored.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from gradmill.cli.commands.script import Arguments, Script, build_files, check_selection, is_same, refuse
from gradmill.releases.model import Release
from gradmill.session.settings.config import SHIM_HEADERS, read_config
from gradmill.specs.find import set_file_in

SOURCES = "sources"
TYPES = ("headers", SOURCES, "declarations_yaml")

_ATEN, _PACKAGED = os.path.join("aten", "src", "ATen"), "ATen"
_VERSION = "version.txt"  # of a checkout
_SHIMS = "torch/csrc/inductor/aoti_torch/generated"
_NATIVE_AOT = os.path.join("torch", "_native", "ops")


BACKENDS, ROCM = ("mps", "xpu", "mtia"), "rocm"
_FLAGS = {
    "per-operator-headers": "write headers for each operator, in ops; else, others declare all",
    ROCM: "write CUDA's files for HIP",
    **{name: f"include the kernels of {name.upper()}" for name in BACKENDS},
    "skip-dispatcher-op-registration": "register no operators",
    "force-schema-registration": "register the schemas of all operators",
    "update-aoti-c-shim": "write the headers of AOTInductor's shims, which are compared otherwise",
    "extend-aoti-c-shim": "write shims that extend PyTorch's, of kernels of their device alone",
}
_LISTS = {
    "op-registration-whitelist": ("NAME", "the operators to register"),
    "backend-whitelist": ("KEY", "the dispatch keys to include, besides generic ones"),
    "static-dispatch-backend": ("KEY", "the backends that operators call without the dispatcher"),
}
_PATHS = {
    "headeronly-install-dir": "the folder of enum_tag.h",
    "op-selection-yaml-path": "a file of the operators to register",
    "aoti-install-dir": "the folder of AOTInductor's shims",
    "native-aot-ops-dir": "a folder with aot.py of operators; empty: none",
}
_refuse = partial(refuse, "torchgen")


class Torchgen(Script):
    """A run that writes ATen's files."""

    name = "torchgen"
    script = "python -m torchgen.gen"
    needed = ("source-path", "install-dir", "headeronly-install-dir", "output-dependencies", "op-selection-yaml-path")
    options_of: ClassVar = {
        "generated": "--install-dir DIR",
        "headeronly": "--headeronly-install-dir DIR",
        "shims": "--aoti-install-dir DIR",
        "operators": "--op-selection-yaml-path FILE",
        "operator_names": "--op-registration-whitelist NAME…",
        "static_dispatch": "--static-dispatch-backend KEY…",
        "dispatch_keys": "--backend-whitelist KEY…",
        "native_aot": "--native-aot-ops-dir DIR",
        "extend_shims": "--extend-aoti-c-shim",
        "cmake_lists": "--output-dependencies FILE",
    }
    fixed: ClassVar = {
        "families": "write --generate",
        "backends": "write --mps, --xpu, --mtia or --rocm",
        "registrations": "write --skip-dispatcher-op-registration or --force-schema-registration",
        "autograd": "torchgen.gen writes no kernels of autograd",
        "tree": "write --install-dir DIR",
        "operator_headers": "write --per-operator-headers",
        **dict.fromkeys(("layout", "shards", "lines"), "torchgen writes PyTorch's files"),
    }

    @classmethod
    def add_arguments(cls, parser: Arguments) -> None:
        add, aten = parser.add_argument, "build/aten/src/ATen"
        add("-s", "--source-path", metavar="DIR", default=_ATEN, help=f"ATen's folder; by default {_ATEN}")
        add("-d", "--install-dir", metavar="DIR", default=aten, help=f"by default {aten}")
        add("--generate", nargs="*", choices=TYPES, default=list(TYPES), help="the types of files; by default all")
        add("-o", "--output-dependencies", metavar="FILE", help="write lists of the generated files, for CMake")
        add("--dry-run", action="store_true", help="write these lists alone")
        for name, meaning in _FLAGS.items():
            add(f"--{name}", action="store_true", help=meaning)
        for name, (metavar, meaning) in _LISTS.items():
            add(f"--{name}", nargs="*", metavar=metavar, help=meaning)
        for name, meaning in _PATHS.items():
            add(f"--{name}", metavar="PATH", default=_SHIMS if name == "aoti-install-dir" else None, help=meaning)

    def variables_for(self, options: argparse.Namespace, given: Mapping[str, str]) -> dict[str, str]:
        _check(options)
        specs = _set_at(options.source_path, given.get("specs", ""))
        types = [each for each in TYPES if each in options.generate]
        known = {**given, "specs": specs}
        headers = [SHIM_HEADERS] if options.update_aoti_c_shim and SOURCES in types else []
        names, schemas = options.op_registration_whitelist, "schemas" if options.force_schema_registration else ""
        variables = {
            "specs": specs,
            "generated": options.install_dir,
            "tree": "aten",
            "families": ",".join([*types, *headers]),
            "operator_headers": str(int(options.per_operator_headers)),
            "shims": (options.aoti_install_dir or options.install_dir) if SOURCES in types else "",
            "cmake_lists": options.output_dependencies,
            "headeronly": options.headeronly_install_dir,
            "operators": options.op_selection_yaml_path,
            "native_aot": _native_aot(options, known),
            "extend_shims": "1" if options.extend_aoti_c_shim else "",
            "operator_names": "" if names is None else ",".join(names) or ",",
            "static_dispatch": ",".join(options.static_dispatch_backend or ()),
            "dispatch_keys": ",".join(options.backend_whitelist or ()),
            "registrations": "none" if options.skip_dispatcher_op_registration else schemas,
            "backends": ",".join(_backends(options, known)),
        }
        return {**given, **{name: value for name, value in variables.items() if value}, **build_files(options)}

    def in_place_of_variables(self, options: argparse.Namespace) -> dict[str, str]:
        return {"specs": "--source-path ", "backends": "--", **super().in_place_of_variables(options)}


SCRIPT = Torchgen


def _check(options: argparse.Namespace) -> None:
    """Refuses what gradmill does not do."""
    if not options.generate:
        _refuse("--generate: there is nothing to generate", f"name some of {', '.join(TYPES)}")
    if options.op_registration_whitelist is not None and options.op_selection_yaml_path is not None:
        _refuse("there are two lists of operators", "leave out one of them")
    check_selection("torchgen", "op-selection-yaml-path", options.op_selection_yaml_path)
    for name in _LISTS:  # torchgen takes a word for one name, which nothing has
        words = getattr(options, name.replace("-", "_")) or ()
        if joined := next((word for word in words if "," in word), ""):
            _refuse(f"--{name} {joined}: a word is one name", f"write --{name} {joined.replace(',', ' ')}")
    if options.update_aoti_c_shim and options.output_dependencies is not None:
        _refuse("--update-aoti-c-shim: CMake's lists are of builds", "leave out --output-dependencies")


def _backends(options: argparse.Namespace, given: Mapping[str, str]) -> list[str]:
    """The optional backends to include: those that are named, and to update shims those that have some."""
    named = [name for name in (*BACKENDS, ROCM) if getattr(options, name)]
    known = _facts(given).optional_backends if named else {}
    if unknown := next((name for name in named if name not in known), ""):
        problem = f"--{unknown}: PyTorch {_facts(given).version} has no optional backend '{unknown}'"
        _refuse(problem, f"leave it out; there are {' and '.join(f'--{name}' for name in known)}")
    if not options.update_aoti_c_shim:
        return named
    facts = _facts(given)
    also = facts.shim_devices if "mps" in facts.shim_devices else ()  # before, these are named, too
    return [name for name in (*BACKENDS, ROCM) if name in named or name in also]


def _native_aot(options: argparse.Namespace, given: Mapping[str, str]) -> str | None:
    """The folder with the modules of operators that declare kernels compiled ahead of time; None if there is none."""
    folder = options.native_aot_ops_dir
    if folder is None:
        folder = os.path.normpath(os.path.join(options.source_path, *[os.pardir] * 3, _NATIVE_AOT))
        return folder if os.path.isdir(folder) and _facts(given).has_native_aot else None
    if not (facts := _facts(given)).has_native_aot:
        _refuse(f"--native-aot-ops-dir: this is for PyTorch 2.15 and newer, not for {facts.version}", "leave it out")
    return folder if os.path.isdir(folder) else None


def _facts(given: Mapping[str, str]) -> Release:
    from gradmill.releases import resolve

    return resolve(read_config({name: given[name] for name in ("specs", "release") if name in given}).release)


def _set_at(source: str, specs: str) -> str:
    """The spec set whose folder of ATen `source` is: a checkout, or a package. Buck gives a folder with `aten` alone:
    then the checkout is `specs`, by default the current folder, and the files are copies of its own."""
    path = os.path.normpath(source)
    for folder in (_ATEN, _PACKAGED):
        root = path.removesuffix(folder)
        if root != path and set_file_in(root := os.path.normpath(root or os.curdir)):
            alone = folder == _ATEN and not os.path.exists(os.path.join(root, _VERSION))
            checkout = specs or (os.curdir if alone and os.path.isfile(_VERSION) else root)
            if checkout != root:
                _check_copies(source, checkout)
            return checkout
    return _refuse(
        f"--source-path {source}: this is neither aten/src/ATen of a PyTorch checkout nor ATen of torchgen/packaged",
        "run the command in the root of a PyTorch checkout",
    )


def _check_copies(source: str, checkout: str) -> None:
    """Refuses a folder of ATen with other YAML files or templates than a checkout's."""
    own = os.path.join(checkout, _ATEN)
    templates = os.path.join(source, "templates")
    names = [f"native/{name}" for name in ("native_functions.yaml", "tags.yaml")]
    names += [f"templates/{name}" for name in sorted(os.listdir(templates) if os.path.isdir(templates) else ())]
    for path in (os.path.join(source, name) for name in names):
        if not is_same(path, os.path.join(own, os.path.relpath(path, source))):
            _refuse(f"--source-path {source}: {path} is not a copy of the checkout's", "name the checkout: specs=DIR")
