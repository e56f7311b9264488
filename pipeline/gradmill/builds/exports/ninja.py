"""gradmill as one rule of a Ninja file, with every generated file as an output.

An unchanged file keeps its modification time, and `restat` makes Ninja stop there. The depfile lists gradmill's inputs.
All paths are absolute: the Ninja file works in any folder, also when another one includes it (`include`).

If a rule leaves some outputs unchanged, Ninja records for them the time of the newest input that the Ninja file names,
because it has not read the depfile yet. Without such an input, files of an earlier run would cost one more run. If it
is then deleted from a folder of inputs, Ninja names it and runs nothing: its outputs no longer exist, so a new export
is due.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from gradmill.builds.exports.command import ROOT, newest_input, words
from gradmill.session.build import Build

_TEXT = Path(__file__).with_name("build.ninja.in").read_text(encoding="utf-8")


def rule_file(build: Build, variables: Mapping[str, str]) -> str:
    """The text of the Ninja file. `variables`: those of gradmill's command line, absolute."""
    command = f"cd {shlex.quote(ROOT)} && {shlex.join(words(variables))}"
    return _TEXT.format(
        folder=_path(os.path.abspath(os.path.join(build.config.folder, "ninja"))),
        command=_value(command),
        manifest=_path(os.path.abspath(build.paths.manifest)),
        units=_path(os.path.abspath(build.paths.units)),
        newest=_path(os.path.abspath(newest_input(build))),
        generated=" ".join(_path(os.path.abspath(build.path(name))) for name in build.file_names()),
    )


def _path(path: str) -> str:
    return _value(path).replace(" ", "$ ").replace(":", "$:")


def _value(text: str) -> str:
    return text.replace("$", "$$")
