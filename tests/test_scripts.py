"""Every script that docs name runs, and every campaign: one short run of each. What they find at length is of no
interest here, only that they have not died.
"""

from __future__ import annotations

import ast
import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import code_mutations
import pytest
from campaigns import CAMPAIGNS
from never_wrong import campaign
from never_wrong.campaign import Trial
from project import ROOT
from test_named import commands, label, script

# `NEWEST` is the installed torch, `FOLDER` an empty folder.
LONG = [
    "bench --no-plot --scale 1 --runs 1 --command gradmill --json FOLDER/out.json --only nothing formula restored",
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
    "tests.campaigns verify --releases 2.14.1 --only fmax",
]
RUN_BY = {  # what a script starts, or a test calls
    "bench.models.check": "bench/models/rows.py",
    "bench.models.export": "bench/models/rows.py",
    "bench.potentials.check": "bench/potentials/__main__.py",
    "bench.potentials.export": "bench/potentials/__main__.py",
    "tests.graphs.tables": "tests/graphs/test_tables.py",
    "tests.releases.upstream_rules": "tests/releases/rules.py",
    "tests.verify.wrong_in_torch": "tests/verify/test_docs.py",
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


@pytest.mark.extension("graphs", "type_stubs", "verify", "browse")
def test_every_script_that_prose_names_is_run_by_a_test() -> None:
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    texts = (node.value for path in files for node in ast.walk(ast.parse(path.read_text())) if is_text(node))
    run = {dotted(word) for text in texts for word in text.split()}
    run |= {dotted(label(script(f"tests.{campaign.module}"))) for campaign in CAMPAIGNS.values()}
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
@pytest.mark.campaign
@pytest.mark.parametrize("words", LONG)
def test_a_longer_run_ends_well(words: str, tmp_path: Path) -> None:
    assert_runs(words, tmp_path)


@pytest.mark.usefixtures("torch_specs")
@pytest.mark.slow(10)
@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_campaign_begins_and_ends_well(name: str, tmp_path: Path) -> None:
    assert_runs(f"tests.campaigns {name} {CAMPAIGNS[name].short} --seed 1 --minutes 10", tmp_path)


@pytest.mark.extension("graphs", "type_stubs", "verify", "browse")
def test_each_folder_of_the_code_has_tests_that_notice_mutations_of_it() -> None:
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "pipeline" / "gradmill").rglob("*.py")}
    tests = {name for folder in folders for name in code_mutations.tests_of(f"{folder}/module.py")}
    assert [name for name in tests if not (ROOT / name).exists()] == []
    named = {folder.parts[2] for folder in folders if len(folder.parts) > 2}
    assert sorted(named - code_mutations.TESTS.keys()) == []


def test_each_campaign_is_in_the_table_of_tests() -> None:
    page = (ROOT / "tests" / "README.md").read_text().partition("## Campaigns")[2]
    rows = re.findall(r"^\| `(\w+)` .* \| \d+ \|$", page, re.MULTILINE)
    assert rows == sorted(CAMPAIGNS)


def test_a_campaign_fails_with_what_is_wrong_and_its_seed(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = campaign.options(None, 5).parse_args(["--seed", "7"])
    trials = (Trial("a kind", "it is stale" if number == 3 else "", f"edit {number}") for number in range(10))
    assert campaign.run(trials, wanted) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["seed 7", "4, a kind, edit 3: it is stale"]
    assert lines[-1].split() == ["all", "5", "1"]


def test_a_campaign_ends_when_its_time_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = campaign.options(None, None).parse_args(["--minutes", "0"])
    assert campaign.run(itertools.repeat(Trial("a kind")), wanted) == 0
    assert "the time is over" in capsys.readouterr().out


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
