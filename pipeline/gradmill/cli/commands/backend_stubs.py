"""`gradmill backend-stubs`: in the place of PyTorch's `python -m torchgen.gen_backend_stubs`.

It takes the arguments of that program, and writes its files. It is a run with the variables that they stand for.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import ClassVar

from gradmill.cli.commands.script import Arguments, Script, build_files, refuse
from gradmill.problems.plain import warn
from gradmill.session.settings.reader import HERE, found_set
from gradmill.specs.find import wholes

STUBS = "gen_backend_stubs"  # the files of that program


class BackendStubs(Script):
    """A run that writes the stubs of a backend."""

    name = "backend-stubs"
    script = "python -m torchgen.gen_backend_stubs"
    where = ""
    more = "specs= (by default the checkout or other set that this folder is, else the installed torch), "
    needed = ("source-yaml", "output-dir", "impl-path")
    options_of: ClassVar = {
        "generated": "--output-dir PATH",
        "backend_yaml": "--source-yaml PATH",
        "backend_kernels": "--impl-path PATH",
    }
    fixed: ClassVar = {
        **dict.fromkeys(("families", "tree", "layout", "shards", "lines"), "torchgen writes the stubs alone"),
        **dict.fromkeys(("operators", "autograd"), "torchgen registers all that the file lists"),
        **dict.fromkeys(("operator_headers", "backends", "extend_shims"), "no stub depends on it"),
    }

    @classmethod
    def add_arguments(cls, parser: Arguments) -> None:
        add, dry = parser.add_argument, "with any word: write nothing, and report errors"
        add("-s", "--source-yaml", metavar="FILE", help="the YAML file that lists the operators of the backend")
        add("-o", "--output-dir", metavar="DIR", help="the folder to write to")
        add("--dry-run", metavar="WORD", type=bool, default=False, help=dry)
        add("--impl-path", metavar="FILE", help="a C++ file that must define the kernels of the backend")

    def variables_for(self, options: argparse.Namespace, given: Mapping[str, str]) -> dict[str, str]:
        for name, value in (("source-yaml", options.source_yaml), ("output-dir", options.output_dir)):
            if value is None:
                refuse(self.name, f"--{name} is missing", f"write --{name} PATH")
        kernels = {} if options.impl_path is None else {"backend_kernels": options.impl_path}
        own = wholes(HERE)
        if own and "specs" not in given:
            warn(found_set(HERE, own[0]))
        return {
            "specs": HERE if own else "torch",
            **given,
            "families": STUBS,
            "tree": "checkout",
            "generated": options.output_dir,
            "backend_yaml": options.source_yaml,
            **kernels,
            **build_files(options),
        }


SCRIPT = BackendStubs
