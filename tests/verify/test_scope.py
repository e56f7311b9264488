"""Which formulas `verify` takes; what it leaves open and locked while it runs; what it remembers, and for what."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from project import Project
from reports.test_revisions import commit, git

from gradmill.extensions.verify import remembered, run
from gradmill.extensions.verify.library import Torch
from gradmill.extensions.verify.model import Code, Subject, Verdict
from gradmill.extensions.verify.run import Settings
from gradmill.extensions.verify.subjects import codes
from gradmill.problems.problem import SpecError
from gradmill.session.build import Build
from gradmill.session.settings.config import read_config

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is absent: apt-get install git")


@pytest.fixture
def repository(built: Project) -> Project:
    """A built set in a repository, as it was committed."""
    git(built.folder, "init", "-q", "-b", "main")
    (built.folder / ".gitignore").write_text("/cache/\n/generated/\n")
    commit(built.folder)
    return built


# ---- which formulas


def test_each_name_of_a_formula_takes_it(built: Project) -> None:
    """Its Node's, and those of its operators, with and without overload."""
    with closing(Build.open(read_config(built.values))) as build:
        build.db.digest(*build.stages.root("match"))
        own = list(codes(build.db))
        assert {"ExpBackward0", "exp", "exp_"} <= set().union(*(code.names for code in own))
        for code in own:
            for name in code.names:
                assert code.subject in [each.subject for each in codes(build.db, [name])], name
        with pytest.raises(SpecError, match="nothing with formulas is called 'ExpBackwrd0'"):
            list(codes(build.db, ["ExpBackwrd0"]))


@pytest.mark.slow(50)
@needs_git
def test_without_names_what_differs_from_the_last_commit_is_verified(
    repository: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    unchanged = repository.gradmill("verify").ok().stdout
    assert unchanged.startswith("none of ")
    assert " formulas differ from git:HEAD; --all verifies all of them\nno formulas, with torch " in unchanged
    repository.set_formula("exp", "self", "-grad * result.conj()")
    report = repository.gradmill("verify", "--format=json")
    assert report.status == 1
    rows = json.loads(report.stdout)
    assert [row["operator"] for row in rows["rows"]] == ["aten::exp", "aten::_foreach_exp"]
    assert rows["scope"].startswith("2 of ")
    commit(repository.folder)
    monkeypatch.setenv("GIT_DIR", ".git")  # as git has it in a hook
    assert repository.gradmill("verify").ok().stdout.startswith("none of ")
    text = repository.gradmill("verify", against="git:HEAD~1")
    assert text.status == 1
    assert " formulas differ from git:HEAD~1\n2 wrong, with torch " in text.stdout
    sarif = repository.folder / "report.sarif"
    written = repository.gradmill("verify", "-o", str(sarif), against="git:HEAD~1", format="sarif")
    assert (written.status, written.stdout) == (1, "")
    results = json.loads(sarif.read_text())["runs"][0]["results"]
    assert {result["ruleId"] for result in results} == {"wrong-derivative"}
    repository.gradmill("page").ok()
    page = repository.generated / "page" / "op" / "exp.html"
    assert "<dt>Checked numerically</dt><dd>wrong: the gradient of self is " in page.read_text()


@pytest.mark.slow(10)
@needs_git
def test_all_formulas_are_taken_where_there_is_nothing_to_compare_with(
    repository: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(repository.folder, "branch", "committed")
    git(repository.folder, "rm", "-q", "-r", "--cached", ".")
    git(repository.folder, "commit", "-q", "--allow-empty", "-m", "none of it")
    programs = repository.folder / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "")
    monkeypatch.setenv("PATH", str(programs))
    assert "no C++ compiler" in repository.gradmill("verify").stderr
    git(repository.folder, "reset", "-q", "committed")
    assert repository.gradmill("verify").ok().stdout.startswith("none of ")
    assert "no C++ compiler" in repository.gradmill("verify", "--all").stderr
    for refused in (
        repository.gradmill("verify", "exp", "--all"),
        repository.gradmill("verify", "--all", against="HEAD"),
    ):
        assert (refused.status, "leave it out, or leave out names and against=" in refused.stderr) == (3, True)


# ---- while it runs

COMPILER = """#!/bin/sh
touch {started}
while [ ! -e {go_on} ]; do sleep 0.05; done
exit 1
"""


def test_a_verification_keeps_neither_the_store_nor_the_lock(built: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    started, go_on, compiler = built.folder / "started", built.folder / "go on", built.folder / "c++"
    compiler.write_text(COMPILER.format(started=f"'{started}'", go_on=f"'{go_on}'"))
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{built.folder}{os.pathsep}{os.environ['PATH']}")
    process = built.start("verify", "exp")
    while not started.exists():
        time.sleep(0.02)
    held = {os.path.realpath(each) for each in Path(f"/proc/{process.pid}/fd").iterdir()}
    go_on.touch()
    process.communicate()
    assert [each for each in held if each.startswith(str(built.cache))] == []


# ---- what is remembered

PAST = 0.15  # seconds, after which a file is older than a run that begins


def code(name: str) -> Code:
    return Code(Subject(name, "", "", "", (), (), (), (), (), (), "", ()), "", name)


def checked(verdict: Verdict) -> object:
    def check(codes: Sequence[Code], *_: object) -> Iterator[Verdict]:
        yield from [verdict] if codes else []

    return check


def test_two_verifications_at_once_lose_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(codes: Sequence[Code], *_: object) -> Iterator[Verdict]:
        if codes[0].subject.name == "OwnBackward0":
            run.verify([code("OtherBackward0")], Settings(tmp_path, "code"))
        yield Verdict(codes[0].subject.name)

    monkeypatch.setattr(run, "_checked", check)
    both = [code("OwnBackward0"), code("OtherBackward0")]
    assert run.verify(both[:1], Settings(tmp_path, "code")).new == 1
    assert len(run.known_verdicts(both, Settings(tmp_path, "code")).verdicts) == 2


def test_a_transient_verdict_is_given_and_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transient = Verdict("N", unchecked="it took too long", transient=True)
    monkeypatch.setattr(run, "_checked", checked(transient))
    for _ in range(2):
        result = run.verify([code("N")], Settings(tmp_path, "code"))
        assert (result.verdicts[0][1], result.new) == (transient, 1)


def test_a_file_that_changed_since_the_run_began_makes_a_verdict_transient(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "module.py"
    module.write_text("old")
    time.sleep(PAST)
    verdict = Verdict("N", files=remembered.digests([str(module)]))
    monkeypatch.setattr(run, "_checked", checked(verdict))
    assert run.verify([code("N")], Settings(tmp_path, "code")).new == 1
    assert run.verify([code("N")], Settings(tmp_path, "code")).new == 0

    def edit(codes: Sequence[Code], *_: object) -> Iterator[Verdict]:
        module.write_text("old")  # the same again, as an edit and its undo leave it
        yield Verdict("M", files=verdict.files)

    monkeypatch.setattr(run, "_checked", edit)
    for _ in range(2):
        assert run.verify([code("M")], Settings(tmp_path, "code")).new == 1


def test_a_cache_that_cannot_be_written_gives_what_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_checked", checked(Verdict("Known")))
    run.verify([code("Known")], Settings(tmp_path, "code"))
    monkeypatch.undo()

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(run, "TemporaryDirectory", refuse)
    monkeypatch.setattr(remembered, "replace_file", refuse)
    result = run.verify([code("Known"), code("Other")], Settings(tmp_path, "code"))
    assert [verdict.unchecked for _, verdict in result.verdicts] == [
        "",
        f"{tmp_path} cannot be written: Permission denied",
    ]


def test_another_build_of_the_same_torch_is_another_torch(tmp_path: Path) -> None:
    library = tmp_path / "lib" / "libtorch_cpu.so"
    library.parent.mkdir()
    library.write_bytes(b"one build")
    before = run.build_of(str(tmp_path))
    assert run.build_of(str(tmp_path)) == before
    library.write_bytes(b"another build")
    after = run.build_of(str(tmp_path))
    assert after != before
    keys = [run.keys([code("N")], Settings(tmp_path, "code"), Torch("", "2.13.0", each)) for each in (before, after)]
    assert keys[0] != keys[1]


def test_modules_that_the_file_of_functions_imports_are_part_of_a_verdict(
    built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, reference = built.folder / "own_module.py", built.folder / "reference.py"
    module.write_text("VALUE = 1\n")
    reference.write_text("from own_module import VALUE\n")
    assert "; 1 known" not in built.gradmill("verify", "neg", python=reference).ok().stdout
    assert "; 1 known" in built.gradmill("verify", "neg", python=reference).ok().stdout
    module.write_text("VALUE = 2\n")
    monkeypatch.setenv("PATH", str(built.folder))
    assert "no C++ compiler" in built.gradmill("verify", "neg", python=reference).stderr


@pytest.mark.slow
def test_what_helpers_include_is_part_of_a_verdict_and_their_errors_name_them(built: Project) -> None:
    helpers, header = built.folder / "helpers.cpp", built.folder / "factor.h"
    header.write_text("#define FACTOR 1\n")
    text = (
        '#include "factor.h"\nnamespace torch::autograd::generated::details {\n'
        "inline at::Tensor scaled(const at::Tensor& grad) { return grad * FACTOR; }\n}\n"
    )
    helpers.write_text(text)
    built.set_formula("neg", "self", "-scaled(grad)")
    assert "1 verified" in built.gradmill("verify", "neg", helpers=helpers).ok().stdout
    assert "1 known from earlier" in built.gradmill("verify", "neg", helpers=helpers).ok().stdout
    header.write_text("#define FACTOR 2\n")
    assert "1 wrong" in built.gradmill("verify", "neg", helpers=helpers).stdout
    helpers.write_text(text.replace("* FACTOR", "* FACTR"))
    run = built.gradmill("verify", "neg", helpers=helpers)
    assert (run.status, f"verify: {helpers}:3:" in run.stderr) == (3, True), run.stderr
