"""`remote=URL` with an edited set: results of similar inputs are taken, and the run rebuilds what differs, no more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import cache_server
import pytest
from project import Project
from sharing import FAILED, OTHERS, WRONG, assert_built, assert_fetched, assert_names_no_machine, forget, unbuilt

from pipeline.front.remote.action_result import decode, encode

TRIPLE = "- func: triple(Tensor self) -> Tensor\n  variants: function\n"
EDITED = "result.conj() * grad"


class Shared:
    """A server, and what it has seen."""

    def __init__(self, server: cache_server.Server) -> None:
        self.server = server
        self.url = server.url

    def calls(self) -> list[str]:
        """The requests since the last time."""
        calls, self.server.requests = self.server.methods, []
        return calls

    def sent(self) -> list[bytes]:
        """All that was uploaded."""
        return [*map(str.encode, self.server.stored), *self.server.stored.values()]


@pytest.fixture
def shared() -> Iterator[Shared]:
    """An empty server."""
    with cache_server.serving() as server:
        yield Shared(server)


def counts(shared: Shared) -> tuple[int, int, int]:
    """How many lookups, downloads and uploads of an archive there were since the last time."""
    calls = shared.calls()
    lookups, downloads, uploads = (calls.count(kind) for kind in ("GET ac", "GET cas", "PUT cas"))
    return lookups, downloads, uploads


EDITS: dict[str, Callable[[Project], object]] = {
    "formula": lambda project: project.set_formula("exp", "self", EDITED),
    "comment": lambda project: project.append("derivatives.yaml", "# a comment"),
    "entry": lambda project: project.remove_entry("exp"),
    "template": lambda project: project.append("templates/Functions.cpp", "// a comment"),
    "schema": lambda project: project.append("native_functions.yaml", TRIPLE),
}


def test_an_edit_takes_similar_results_and_runs_what_it_runs_where_they_were_computed(
    shared: Shared, tiny_built: Project, other: Project, tmp_path: Path
) -> None:
    local = unbuilt(tiny_built, tmp_path / "local").build(remote=shared.url)
    assert counts(shared) == (2, 0, 1)
    for project in (local, other):
        project.set_formula("exp", "self", EDITED)
    expected = local.run(remote=shared.url)
    assert counts(shared) == (0, 0, 0)
    run = other.run(remote=shared.url)
    assert (run.status, run.stderr, run.units) == (0, "", expected.units)
    assert counts(shared) == (2, 1, 0)
    assert other.files() == local.files() == other.clean_build()
    assert other.manifest() == other.clean_manifest()
    assert other.run().ran == []


@pytest.mark.parametrize("edit", EDITS)
def test_after_any_edit_the_files_are_those_of_a_clean_build(
    shared: Shared, small_built: Project, tmp_path: Path, edit: str
) -> None:
    unbuilt(small_built, tmp_path / "first").build(remote=shared.url)
    project = unbuilt(small_built, tmp_path / "second")
    EDITS[edit](project)
    project.run(remote=shared.url).clean()
    assert counts(shared)[:2] == (4, 1)
    assert project.files() == project.clean_build()
    assert project.manifest() == project.clean_manifest()


def test_a_little_that_is_new_is_not_uploaded_and_much_is(
    shared: Shared, tiny_built: Project, small_built: Project, tmp_path: Path
) -> None:
    tiny = unbuilt(tiny_built, tmp_path / "tiny").build(remote=shared.url)
    assert counts(shared) == (2, 0, 1)
    small = unbuilt(small_built, tmp_path / "small").build(remote=shared.url)
    assert counts(shared) == (2, 1, 1)
    assert small.files() == small_built.files()
    for project in (tiny, small):
        assert_names_no_machine(shared.sent(), project)
    forget(small)
    small.set_formula("exp", "self", EDITED)
    run = small.run(remote=shared.url)  # takes what was uploaded last
    assert counts(shared) == (2, 1, 0)
    assert 0 < len(run.units) < 10
    assert small.files() == small.clean_build()
    forget(tiny)
    assert_fetched(tiny.run(remote=shared.url))  # equal results remain
    assert counts(shared) == (1, 1, 0)
    assert tiny.files() == tiny_built.files()


def test_problems_are_those_of_this_set(shared: Shared, tiny_built: Project, tmp_path: Path) -> None:
    wrong = unbuilt(tiny_built, tmp_path / "wrong")
    wrong.set_formula("exp", "self", "grad * reslt.conj()")
    assert "reslt" in wrong.run(remote=shared.url).stderr
    right = unbuilt(tiny_built, tmp_path / "right")
    run = right.run(remote=shared.url).clean()
    assert right.files() == tiny_built.files()
    forget(right)
    right.replace("derivatives.yaml", "  self: grad * result.conj()", "  slef: grad")
    run = right.run(remote=shared.url)
    assert run.status == 1 and "slef" in run.stderr
    assert not right.generated.exists() or right.files() == {}


def test_sets_of_other_names_do_not_replace_each_others_results(
    shared: Shared, tiny_built: Project, tmp_path: Path
) -> None:
    unbuilt(tiny_built, tmp_path / "first").build(remote=shared.url)
    shared.calls()
    other = unbuilt(tiny_built, tmp_path / "second")
    other.specs.rename(tmp_path / "second" / "another")
    other.specs = tmp_path / "second" / "another"
    other.set_formula("exp", "self", EDITED)
    assert other.run(remote=shared.url).status == 0
    assert counts(shared) == (2, 0, 1)


def test_a_fault_of_the_second_lookup_costs_a_line(shared: Shared, other: Project) -> None:
    left = [1]

    def second(exchange: cache_server.Exchange) -> None:
        left[0] -= 1
        exchange.give(404 if left[0] >= 0 else 500)

    shared.server.answers["GET ac"] = second
    run = other.run(remote=shared.url)
    assert counts(shared) == (2, 0, 0)
    assert_built(other, run, f"HTTP 500 for a GET; {FAILED}", shared.server.name)


def test_similar_results_that_are_another_versions_are_refused_and_replaced(
    shared: Shared, own_code: Project, tmp_path: Path
) -> None:
    """An entry for another archive, which is whole."""
    own_code.build(remote=shared.url)
    stored = shared.server.stored
    before = {path: decode(data) for path, data in stored.items() if "/ac/" in path}
    module = own_code.root / "pipeline" / "__init__.py"
    module.write_text(module.read_text() + "# another version\n")
    forget(own_code)
    own_code.build(remote=shared.url)
    forget(own_code)
    (blob,) = {*before.values()}
    moved = {path: encode(blob) for path in stored if "/ac/" in path}
    stored.update(moved)
    own_code.set_formula("exp", "self", EDITED)
    shared.calls()
    run = own_code.run(remote=shared.url).ok()
    assert re.fullmatch(f"remote=.*: {OTHERS}; {WRONG}\n", run.stderr)
    assert counts(shared) == (2, 1, 1)
    assert own_code.files() == own_code.clean_build()
