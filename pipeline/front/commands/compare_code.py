"""`generate-code --compare`: the checkout's own script is run, and its files are compared with gradmill's."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from doit.exceptions import InvalidCommand

from pipeline.front.run.build import Build
from pipeline.problems.plain import line, lines

SCRIPT = "tools/setup_helpers/generate_code.py"
_CSRC = "torch/csrc"  # the folder in `--gen-dir` by which the script names its own files
_SPECS = (
    "--native-functions-path=aten/src/ATen/native/native_functions.yaml",
    "--tags-path=aten/src/ATen/native/tags.yaml",
)
_FORWARDED = ("subset", "selected_op_list_path", "operators_yaml_path")
_FLAGS = ("disable_autograd", "force_schema_registration", "gen_lazy_ts_backend", "per_operator_headers")
_SHOWN = 12  # lines of the error of a script that fails


def compare(build: Build, options: argparse.Namespace, root: str) -> int:
    """Lists on standard error the files that differ from those of the script of the checkout `root`; returns the exit
    status, 1 if any does. `build`: of a run that wrote all files. InvalidCommand if the script fails."""
    with tempfile.TemporaryDirectory(prefix="gradmill-") as folder:
        theirs = _run_script(options, os.path.abspath(root), os.path.realpath(folder))
    ours = (
        {os.path.abspath(build.path(name)) for name in build.record.made.files} if build.record is not None else set()
    )
    problems = [problem for path in sorted(ours | theirs.keys()) if (problem := _difference(path, ours, theirs))]
    sys.stderr.write(lines(problems))
    equal = len(ours | theirs.keys()) - len(problems)
    sys.stdout.write(f"{equal} files equal those of {SCRIPT}" + (f", {len(problems)} do not\n" if problems else "\n"))
    return int(bool(problems))


def _difference(path: str, ours: set[str], theirs: Mapping[str, bytes]) -> str:
    """How the script's file at a path differs from gradmill's, "" if it does not."""
    shown = os.path.relpath(path)
    if path not in ours:
        return f"{shown}: {SCRIPT} writes it, and gradmill does not"
    if path not in theirs:
        return f"{shown}: gradmill writes it, and {SCRIPT} does not"
    made, wanted = Path(path).read_bytes(), theirs[path]
    if made == wanted:
        return ""
    pairs = zip(made.split(b"\n"), wanted.split(b"\n"))
    number = next(
        (number for number, (a, b) in enumerate(pairs, 1) if a != b), min(made.count(b"\n"), wanted.count(b"\n")) + 1
    )
    return f"{shown}:{number}: {SCRIPT} writes another line"


def _run_script(options: argparse.Namespace, root: str, folder: str) -> dict[str, bytes]:
    """The bytes that the script writes, by the absolute path where it would write them. It writes to `folder`."""
    script = os.path.join(root, SCRIPT)
    if not os.path.isfile(script):
        raise InvalidCommand(line(f"generate-code: --compare: {script}: there is no such file"))
    values = {name: getattr(options, name) for name in _FORWARDED}
    values = {
        name: value and os.path.abspath(value) if name.endswith("path") else value for name, value in values.items()
    }
    words = [*_SPECS, *(f"{_option(name)}={value}" for name, value in values.items() if value)]
    words += [_option(name) for name in _FLAGS if getattr(options, name)]
    trees = {os.path.join(folder, "gen"): options.gen_dir or os.curdir}
    printed = {os.path.join(folder, "gen", _CSRC): os.fspath(Path(options.gen_dir, _CSRC))}
    words.append(f"--gen-dir={os.path.join(folder, 'gen')}")
    if options.install_dir:
        trees[os.path.join(folder, "install")] = options.install_dir
        printed[os.path.join(folder, "install")] = options.install_dir
        words.append(f"--install-dir={os.path.join(folder, 'install')}")
    command = [sys.executable, "-B", script, *words]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        error = "".join(f"\n  {each}" for each in done.stderr.strip().splitlines()[-_SHOWN:])
        raise InvalidCommand(line(f"generate-code: --compare: {SCRIPT} fails:") + error)
    files = {}
    for tree, place in trees.items():
        for path in filter(Path.is_file, Path(tree).rglob("*")):
            data = path.read_bytes()
            for written, own in printed.items():
                data = data.replace(os.fsencode(written), os.fsencode(own))
            files[os.path.abspath(os.path.join(place, os.path.relpath(path, tree)))] = data
    return files


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
