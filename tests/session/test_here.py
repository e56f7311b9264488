"""A command line without `specs=` in the folder of a spec set: it uses this set, and says so."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import forked
import pytest
from project import ROOT, files_in

BASE = ROOT / "tests" / "bad" / "base"
FLAT, CHECKOUT = "native_functions.yaml", "aten/src/ATen/native/native_functions.yaml"
WORDS = "specs=.: the spec set of this folder, which has {}\n"


@pytest.fixture
def flat(tmp_path: Path) -> Path:
    """A small set with everything that it needs, in one folder."""
    return Path(shutil.copytree(BASE, tmp_path / "mine"))


def test_the_set_of_the_folder_is_used_and_named(flat: Path) -> None:
    plain = forked.gradmill([], flat)
    assert (plain.status, plain.stderr) == (0, WORDS.format(FLAT))
    assert "files in generated/mine" in plain.stdout
    assert sorted(path.name for path in (flat / "cache").iterdir() if path.is_dir()) == ["mine"]
    files = files_in(flat / "generated" / "mine")
    forked.gradmill(["specs=.", "generated=other", "cache=another"], flat).clean()
    assert files_in(flat / "other") == files


def test_a_description_comes_before_the_files_next_to_it(flat: Path) -> None:
    (flat / "specset.toml").write_text('name = "described"\nbase = "core"\n')
    run = forked.gradmill(["show", "match", "exp"], flat)
    assert (run.status, run.stderr) == (0, WORDS.format("specset.toml"))
    assert [path.name for path in (flat / "cache").iterdir() if path.is_dir()] == ["described"]


def test_reports_for_machines_have_no_such_line(flat: Path) -> None:
    run = forked.gradmill(["list", "format=json"], flat).clean()
    assert json.loads(run.stdout)


def test_the_included_set_and_others_can_still_be_named(flat: Path) -> None:
    assert forked.gradmill(["export", "specsdir", "specs=core"], flat).clean().stdout.endswith("specs/core\n")


@pytest.mark.parametrize("missing", ["derivatives.yaml", "tags.yaml", "templates"])
def test_a_part_of_a_set_is_not_taken(flat: Path, missing: str) -> None:
    (flat / missing).rename(flat / "away")
    before = sorted(flat.rglob("*"))
    run = forked.gradmill([], flat)
    assert (run.status, run.stdout) == (3, "")
    assert run.stderr == (
        f"ERROR: this folder has {FLAT}, but not all files of a spec set\n"
        "  write specs=. to use it, or specs=core for the included set\n"
    )
    assert sorted(flat.rglob("*")) == before


def test_of_two_sets_in_one_folder_none_is_taken(flat: Path) -> None:
    for name in (CHECKOUT, "aten/src/ATen/native/tags.yaml", "tools/autograd/derivatives.yaml"):
        (flat / name).parent.mkdir(parents=True, exist_ok=True)
        (flat / name).touch()
    (flat / "tools/autograd/templates").mkdir()
    run = forked.gradmill([], flat)
    assert (run.status, run.stdout) == (3, "")
    assert run.stderr.startswith(f"ERROR: this folder has several sets: {FLAT}, {CHECKOUT}\n")
