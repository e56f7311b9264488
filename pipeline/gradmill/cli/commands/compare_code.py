"""`generate-code --compare`: the checkout's own script is run, and its files are compared with gradmill's."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from gradmill.io.files import read_file
from gradmill.problems.plain import lines, reason
from gradmill.problems.problem import SpecError
from gradmill.session.session import Session
from gradmill.session.settings.config import Config

SCRIPT = "tools/setup_helpers/generate_code.py"
_CSRC = "torch/csrc"  # the folder in `--gen-dir` by which files of the script include one another
_SPECS = (
    "--native-functions-path=aten/src/ATen/native/native_functions.yaml",
    "--tags-path=aten/src/ATen/native/tags.yaml",
)
_LISTS = ("selected_op_list_path", "operators_yaml_path")
_FLAGS = ("disable_autograd", "force_schema_registration", "gen_lazy_ts_backend", "per_operator_headers")
_SHOWN = 12  # lines of the error of a script that fails


class _Tree(NamedTuple):
    """A folder that the script writes to, and the temporary one in its place."""

    option: str
    folder: str
    temporary: str
    included: str = ""  # the folder in it that is a part of the paths by which files include one another

    def in_place(self, data: bytes) -> bytes:
        """A file of the temporary folder, as the script would write it to the other one."""
        written = os.path.join(self.temporary, self.included) if self.included else self.temporary
        own = os.fspath(Path(self.folder, self.included)) if self.included else self.folder
        return data.replace(os.fsencode(written), os.fsencode(own))


def compare(config: Config, options: argparse.Namespace, root: str) -> int:
    """Lists on standard error the files that differ from those of the script of the checkout `root`; returns the exit
    status, 1 if any does. `config`: of a run that wrote all files. SpecError if the script fails."""
    try:
        with tempfile.TemporaryDirectory(prefix="gradmill-") as folder:
            theirs = _files_of_script(options, os.path.abspath(root), os.path.realpath(folder))
    except OSError as error:
        raise SpecError(f"generate-code: --compare: {reason(error)}") from None
    with closing(Session.open(config)) as session:
        ours = {os.path.abspath(session.path(name)) for name in session.file_names()}
    problems = [problem for path in sorted(ours | theirs.keys()) if (problem := _difference(path, ours, theirs))]
    sys.stderr.write(lines(problems))
    equal = len(ours | theirs.keys()) - len(problems)
    sys.stdout.write(f"{equal} files equal those of {SCRIPT}" + (f", {len(problems)} do not\n" if problems else "\n"))
    return int(bool(problems))


def _difference(path: str, ours: set[str], theirs: Mapping[str, bytes]) -> str:
    """How the script's file at a path differs from gradmill's, "" if it does not."""
    shown, wanted = os.path.relpath(path), theirs.get(path)
    if path not in ours:
        return f"{shown}: {SCRIPT} writes it, and gradmill does not"
    if wanted is None:
        return f"{shown}: gradmill writes it, and {SCRIPT} does not"
    made = read_file(path) or b""
    if made == wanted:
        return ""
    pairs = zip(made.split(b"\n"), wanted.split(b"\n"))
    equal = next((count for count, (a, b) in enumerate(pairs) if a != b), min(made.count(b"\n"), wanted.count(b"\n")))
    return f"{shown}:{equal + 1}: {SCRIPT} writes another line"


def _files_of_script(options: argparse.Namespace, root: str, folder: str) -> dict[str, bytes]:
    """The bytes of all files that the script writes, by absolute path. It is run in the checkout `root`, with temporary
    folders below `folder`."""
    script = os.path.join(root, SCRIPT)
    if not os.path.isfile(script):
        raise SpecError(f"generate-code: --compare: {script}: there is no such file")
    trees = [_Tree("--gen-dir", options.gen_dir or os.curdir, os.path.join(folder, "gen"), _CSRC)]
    if options.install_dir:
        trees.append(_Tree("--install-dir", options.install_dir, os.path.join(folder, "install")))
    words = [*_SPECS, *(f"{tree.option}={tree.temporary}" for tree in trees)]
    words += [f"--subset={options.subset}"] if options.subset else []
    words += [f"{_option(name)}={os.path.abspath(path)}" for name in _LISTS if (path := getattr(options, name))]
    words += [_option(name) for name in _FLAGS if getattr(options, name)]
    command = [sys.executable, "-B", script, *words]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        shown = [f"  {each}" for each in done.stderr.strip().splitlines()[-_SHOWN:]]
        sys.stderr.write(lines(shown))
        raise SpecError(f"generate-code: --compare: {SCRIPT} fails")
    files = {}
    for tree in trees:
        for path in filter(Path.is_file, Path(tree.temporary).rglob("*")):
            place = os.path.join(tree.folder, os.path.relpath(path, tree.temporary))
            files[os.path.abspath(place)] = tree.in_place(path.read_bytes())
    return files


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
