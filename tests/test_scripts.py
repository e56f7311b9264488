"""Every script of tests and benchmarks that docs name runs: one short run of each that no other test starts. What they
find at length is of no interest here, only that they have not died.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from project import ROOT
from test_named import commands, label

# `NEWEST` is the installed torch, `FOLDER` an empty folder.
SHORT = [
    "tests.never_wrong.chains --set toy --count 1",
    "tests.never_wrong.kinds --count 2",
    "tests.never_wrong.mutations --count 1",
    "tests.pairs --list",
]
LONG = [
    "bench --no-plot --scale 1 --runs 1 --command gradmill --json FOLDER/out.json --only nothing formula http-similar",
    "bench --no-plot --scale 1 --runs 1 --script --json FOLDER/out.json --only script-nothing script-formula",
    "bench.compile --runs 1 --only gradmill-16-precompiled --folder FOLDER --json FOLDER/compile.json",
    "bench.frames 1",
    "bench/graph_sizes.py -O0 1",
    "bench/graphs.py 1",
    "bench.lsp --keys 1",
    "bench.models --only",  # of no model: their packages are not installed for tests
    "bench.models.memory --only",  # the same
    "bench.potentials --only --folder FOLDER",  # of none: to compile them takes minutes
    "bench.rivals --runs 1 --sizes 1 --no-plot --json FOLDER/rivals.json",
    "bench.watch --saves 1",
    "bench.worker --runs 1",
    "tests.aten.random_sets --count 8 --functions 8",
    "tests.checkouts NEWEST",
    "tests.graphs.random_programs --count 8",
    "tests.graphs.releases NEWEST --count 8",
    "tests.never_wrong.damage --count 1",
    "tests.never_wrong.kills --count 1",
    "tests.never_wrong.moments --count 1",
    "tests.never_wrong.sweep --count 1",
    "tests.code_mutations pipeline/query/table.py --count 1 --tests tests/query/test_engine.py",
    "tests.releases NEWEST",
    "tests.releases.selected NEWEST",
    "tests.trees NEWEST --subset pybindings",
    "tests.verify.blind 2.14.1 --only fmax",
    "tests.verify.mutations --count 3 --only exp mul neg sin",
    "tests.verify.sampled --made exp",
]
SECONDS = {"bench.frames 1": 90, "bench/graph_sizes.py -O0 1": 25, "tests.graphs.releases NEWEST --count 8": 45}
RUN_BY = {  # what a script starts, or a test calls
    "bench.models.check": "bench/models/rows.py",
    "bench.models.export": "bench/models/rows.py",
    "bench.potentials.check": "bench/potentials/__main__.py",
    "bench.potentials.export": "bench/potentials/__main__.py",
    "tests.bad.errors_page": "tests/problems/test_bad_specs.py",
    "tests.graphs.tables": "tests/graphs/test_tables.py",
    "tests.releases.upstream_rules": "tests/releases/rules.py",
    "tests.torchgen_selected": "tests/releases/selected.py",
}
FAKED = ("bench.compile",)  # of this one a compiler that compiles nothing is enough
COMPILER = """\
#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in -o) out=$2 ;; -MF) depfile=$2 ;; esac
    shift
done
: > "${out:-/dev/null}"
if [ -n "$depfile" ]; then echo "$out:" > "$depfile"; fi
"""


def test_every_script_that_prose_names_is_run_by_a_test() -> None:
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    texts = (node.value for path in files for node in ast.walk(ast.parse(path.read_text())) if is_text(node))
    run = {dotted(word) for text in texts for word in text.split()}
    named = {dotted(label(path)) for _, path, _ in commands()}
    assert len(named) > 30
    assert sorted(named - run) == []
    for name, file in RUN_BY.items():
        assert name.rpartition(".")[2] in (ROOT / file).read_text(), name


def dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__main__").replace("/", ".")


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


@pytest.mark.usefixtures("torch_specs")  # skips where torch is not installed
@pytest.mark.parametrize("words", SHORT)
def test_a_short_run_ends_well(words: str, tmp_path: Path) -> None:
    assert_runs(words, tmp_path)


@pytest.mark.usefixtures("torch_specs")
@pytest.mark.parametrize(
    "words", [pytest.param(words, marks=pytest.mark.alternates(24, SECONDS.get(words, 13))) for words in LONG]
)
def test_a_longer_run_ends_well(words: str, tmp_path: Path) -> None:
    assert_runs(words, tmp_path)


def assert_runs(words: str, folder: Path) -> None:
    import torch

    newest = torch.__version__.partition("+")[0]
    script, *options = words.replace("FOLDER", str(folder)).replace("NEWEST", newest).split()
    command = [sys.executable, *([] if script.endswith(".py") else ["-m"]), script, *options]
    environment = dict(os.environ)
    if script in FAKED:
        environment["PATH"] = f"{fake_compiler(folder)}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def fake_compiler(folder: Path) -> Path:
    """The folder of a compiler."""
    path = folder / "programs" / "c++"
    path.parent.mkdir()
    path.write_text(COMPILER)
    path.chmod(0o755)
    return path.parent
