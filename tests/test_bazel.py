"""examples/bazel with caches, executors and workers: the same bytes in all of them, and nothing is compiled twice.

Workers without Bazel are in `builds/test_worker.py`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import installed
import older_execution
import pytest
import remote_servers
from cpp import toolchain
from project import Project, files_in, replace_once
from with_bazel import Bazel, needs_bazel, newer_program

FORMULA = "  self: grad * result.conj()\n"  # of exp
EDITED = FORMULA.replace("grad * ", "grad * 1 * ")
SHARDS = 1


class Clone:
    """A clone with a small spec set, of a user, on a machine with a gradmill: their folders are `place`."""

    def __init__(self, place: Path, origin: Project, bazel_files: Path, commands: Path, program: str = "") -> None:
        installed.copy_clone(place, ("examples",), "bazel-*")
        shutil.copytree(origin.specs, place / "specs" / "core")
        self.folder = place / "examples" / "bazel"
        self.specs = place / "specs" / "core"
        build = self.folder / "BUILD.bazel"
        build.write_text(build.read_text().replace("SHARDS = 4\n", f"SHARDS = {SHARDS}\n"))
        environment = {"PATH": f"{commands}:{os.environ['PATH']}", "HOME": str(place), "USER": place.name}
        self.bazel = Bazel(bazel_files, self.folder, environment, program)

    def edit(self, old: str, new: str) -> None:
        replace_once(self.specs / "derivatives.yaml", old, new)

    def build(self, target: str, *flags: str) -> dict[str, int]:
        """Builds; how many processes ran where, as Bazel counts them."""
        flags = (*flags, *(f"--copt={flag}" for flag in ("-O0", *toolchain.hasty_flags())))
        message = self.bazel.run("build", "--jobs=2", *flags, target)
        counted = re.search(r"INFO: \d+ process(?:es)?: (.*)\.", message)
        where = [word.split(" ", 1) for word in counted[1].split(", ")] if counted else []
        return {name: int(number) for number, name in where if name != "internal"}

    def generated(self) -> dict[str, bytes]:
        """The declared outputs."""
        files = files_in(self.folder / "bazel-bin" / "generated")
        return {name: data for name, data in files.items() if name.startswith("Functions") and _is_cpp(name)}

    def expected(self, folder: Path) -> dict[str, bytes]:
        """What a plain run makes of the specs."""
        Project.at(folder).run(specs=self.specs, families="nodes", layout="split", shards=SHARDS).ok()
        files = files_in(folder / "generated")
        return {name: data for name, data in files.items() if name.startswith("Functions") and _is_cpp(name)}


def _is_cpp(name: str) -> bool:
    return name.endswith((".cpp", ".h"))


@pytest.fixture
def clone(tmp_path: Path, tiny_built: Project, bazel_files: Path, commands: Path) -> Iterator[Clone]:
    clone = Clone(tmp_path / "first", tiny_built, bazel_files, commands)
    with clone.bazel:
        yield clone


# The flags of a strategy, and the name that Bazel has for it when it counts.
SANDBOX, NO_SANDBOX = ([], "linux-sandbox"), (["--strategy=Gradmill=local"], "local")
# A flag of version 4, without effect later.
WORKER = (["--experimental_worker_allow_json_protocol"], "worker")
WORKER_WITHOUT_SANDBOX = (["--experimental_worker_allow_json_protocol", "--noworker_sandboxing"], "worker")


@pytest.mark.slow(30)
@needs_bazel
def test_the_action_writes_what_a_run_writes(clone: Clone, tmp_path: Path) -> None:
    """In a sandbox without a network, and in none."""
    check_strategies(clone, tmp_path, [SANDBOX, NO_SANDBOX])


def check_strategies(clone: Clone, folder: Path, strategies: list[tuple[list[str], str]]) -> None:
    """After an edit each time, the outputs are those of a run; a mistake fails in all; the next build is right."""
    old = FORMULA
    for number, (flags, counted) in enumerate(strategies):
        new = FORMULA.replace("grad * ", f"grad * {number} * ")
        clone.edit(old, new)
        old = new
        assert clone.build("//:generate", *flags) == {counted: 1}
        assert clone.generated() == clone.expected(folder / str(number))
    clone.edit(old, old.replace("self:", "slef:"))
    for flags, _ in strategies:
        words = ["build", *flags, "//:generate"]
        assert re.search(r"derivatives\.yaml:\d+:\d+: error: exp: slef:", clone.bazel.run(*words, status=1))
    clone.edit("slef:", "self:")
    flags, counted = strategies[0]
    assert clone.build("//:generate", *flags) == {counted: 1}


@pytest.mark.slow(50)
@needs_bazel
def test_bazel_compiles_what_an_edit_changes(clone: Clone) -> None:
    if reason := toolchain.missing():
        pytest.skip(reason)
    target = "//:libcore_nodes.so"
    assert clone.build(target) == {"linux-sandbox": 1, "local": 3}  # two sources, and the library
    assert clone.build(target) == {}
    clone.edit(FORMULA, EDITED)
    assert clone.build(target) == {"linux-sandbox": 1, "local": 2}  # the source of the formulas
    clone.edit(EDITED, f"  # a comment\n{EDITED}")
    assert clone.build(target) == {"linux-sandbox": 1}
    assert clone.build(target) == {}


@pytest.mark.slow(30)
@pytest.mark.skipif(not newer_program(), reason="no Bazel with JSON for workers: install bazel-bootstrap of Debian")
def test_a_worker_writes_what_a_run_writes(
    tmp_path: Path, tiny_built: Project, bazel_files: Path, commands: Path
) -> None:
    clone = Clone(tmp_path / "first", tiny_built, bazel_files, commands, newer_program())
    build = clone.folder / "BUILD.bazel"
    build.write_text(build.read_text().replace("    shards = SHARDS,\n", "    shards = SHARDS,\n    workers = True,\n"))
    with clone.bazel:
        check_strategies(clone, tmp_path, [WORKER, WORKER_WITHOUT_SANDBOX])


@pytest.fixture
def casd(tmp_path: Path, commands: Path) -> Iterator[tuple[str, older_execution.Proxy]]:
    """buildbox-casd with execution in bubblewrap, which sees the system, Python and torch; as version 2.0."""
    if remote_servers.casd() is None or shutil.which("bwrap") is None:
        pytest.skip("buildbox-casd or bubblewrap is missing: see .ci/run")
    (tmp_path / "casd").mkdir()
    shown = [Path(sys.base_prefix).resolve(), toolchain.torch_folder()]
    with (
        remote_servers.running_casd(tmp_path / "casd", shown) as url,
        older_execution.serving(url) as (older, proxy),
    ):
        yield older, proxy


@pytest.mark.slow(30)
@needs_bazel
def test_a_second_clone_compiles_nothing_again(
    clone: Clone, tmp_path: Path, tiny_built: Project, bazel_files: Path, wheel: Path, nginx: str
) -> None:
    """Another folder, user and installation of gradmill, with empty caches: what the first clone made of an edit."""
    if reason := toolchain.missing():
        pytest.skip(reason)
    target, cached = "//:libcore_nodes.so", f"--remote_cache={nginx}"
    clone.edit(FORMULA, EDITED)
    assert clone.build(target, cached) == {"linux-sandbox": 1, "local": 3}  # two sources, and the library
    clone.bazel.run("shutdown")

    (tmp_path / "venv").mkdir()
    commands = installed.install(wheel, tmp_path / "venv")
    second = Clone(tmp_path / "second" / "machine", tiny_built, bazel_files, commands)
    second.edit(FORMULA, EDITED)
    with second.bazel:
        assert second.build(target, cached) == {"remote cache hit": 4}
        assert second.generated() == second.expected(tmp_path / "expected")
        second.edit(EDITED, f"  # a comment\n{EDITED}")
        assert second.build(target, cached) == {"linux-sandbox": 1}
    library = Path("bazel-bin", "libcore_nodes.so")
    assert (second.folder / library).read_bytes() == (clone.folder / library).read_bytes()


@pytest.mark.slow(30)
@needs_bazel
def test_everything_is_executed_remotely(clone: Clone, tmp_path: Path, casd: tuple[str, older_execution.Proxy]) -> None:
    """gradmill, the compiler and the linker, in sandboxes of a server, which has no other files than their inputs."""
    if reason := toolchain.missing():
        pytest.skip(reason)
    url, proxy = casd
    proxy.store(path for path in (toolchain.torch_folder() / "include").rglob("*.h*") if path.is_file())
    flags = ["--config=remote", f"--remote_executor={url}"]
    assert clone.build("//:generate", *flags) == {"remote": 1}
    assert clone.generated() == clone.expected(tmp_path / "expected")
    assert clone.build("//:libcore_nodes.so", *flags) == {"remote": 3}
    assert proxy.calls["Execute"] == 4
    clone.bazel.run("clean")
    assert clone.build("//:libcore_nodes.so", *flags) == {"remote cache hit": 4}
    assert proxy.calls["Execute"] == 4
