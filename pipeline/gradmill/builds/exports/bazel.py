"""gradmill as a rule of Bazel: one file to load, with a repository of its inputs, the rule, and lists of its outputs.

Bazel has labels for files of a workspace alone. So a repository rule makes links to all inputs, gradmill's code among
them, and Bazel sees their edits. A file that is new, in a folder of inputs, takes a new export.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from gradmill.builds.exports.command import ROOT, words
from gradmill.session.build import Build
from gradmill.session.cmake import file_lists
from gradmill.session.own_code import PACKAGE
from gradmill.session.settings.variables import FILES

FOLDER = "generated"  # of the outputs, below the package that has the rule
_CACHE = "cache"  # likewise
_HELPERS = "helpers/"  # the folder of the set's own headers in the repository
_HEADERS = (".h", ".hpp", ".cuh")
_TEXT = Path(__file__).with_name("gradmill.bzl.in").read_text(encoding="utf-8")
_LIBRARY = """
cc_library(
    name = "helpers",
    hdrs = glob(["helpers/*"]),
    strip_include_prefix = "helpers",
)
"""


def rule_file(build: Build, variables: Mapping[str, str]) -> str:
    """The text of the file. `variables`: those of gradmill's command line, absolute; the folders are Bazel's own."""
    kept = {name: value for name, value in variables.items() if name not in (*FILES, "generated", "cache")}
    run = shlex.join(words(kept)).replace("$", "$$")
    place = f'generated="$$out/{FOLDER}" cache="$$out/{_CACHE}"'
    command = f'out="$$PWD/$(@D)"; cd {shlex.quote(ROOT).replace("$", "$$")} && {run} {place} > /dev/null'
    lists = {**file_lists(build.file_names())}
    others = [*lists.pop("others")]
    lists["headers"] = [name for name in others if name.endswith(_HEADERS)]
    lists["others"] = [name for name in others if not name.endswith(_HEADERS)]
    text = {key: _list(f"{FOLDER}/{name}" for name in names) for key, names in lists.items()}
    lists_of_files = (build.paths.manifest, build.paths.units)
    text["manifest"] = _list(f"{_CACHE}/{os.path.relpath(path, build.config.cache)}" for path in lists_of_files)
    inputs = _inputs(build)
    has_own = any(name.startswith(_HELPERS) for name in inputs)
    text |= {"helpers": _list(["@gradmill_inputs//:helpers"] if has_own else []), "library": _LIBRARY * has_own}
    return _TEXT.format(**text, inputs=_dict(inputs), command=_string(command))


def _inputs(build: Build) -> dict[str, str]:
    """The path of each input, by its name in the repository. Folders are numbered: their names may be equal. The set's
    own headers have a folder for themselves, because templates have the names of generated files."""
    specs = build.config.specs
    own = [] if specs.whole else [at.path for at in specs.headers.values() if not at.member]
    folders: dict[str, int] = {}
    inputs = {"gradmill": PACKAGE}
    for path in map(os.path.abspath, filter(os.path.exists, build.inputs.spec_paths())):
        folder, name = os.path.split(path)
        is_own = path in map(os.path.abspath, own)
        inputs[f"{_HELPERS}{name}" if is_own else f"specs{folders.setdefault(folder, len(folders))}/{name}"] = path
    return inputs


def _list(values: Iterable[str]) -> str:
    lines = "".join(f"    {_string(value)},\n" for value in values)
    return f"[\n{lines}]" if lines else "[]"


def _dict(values: Mapping[str, str]) -> str:
    return "{\n" + "".join(f"    {_string(name)}: {_string(value)},\n" for name, value in values.items()) + "}"


def _string(text: str) -> str:
    """A string of Starlark."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
