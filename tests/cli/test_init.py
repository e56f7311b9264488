"""`gradmill init`: a small set that passes `check` and a run as it is, over torch and over core."""

from __future__ import annotations

import os
import re
from pathlib import Path

import forked
import pytest
from project import ROOT, files_in

from gradmill.cli.commands import init as module
from gradmill.cli.commands.init import init
from gradmill.io.files import put_file
from gradmill.problems.problem import SpecError

pytestmark = pytest.mark.extension("verify")  # without it two files less are written: tests/test_extensions.py
NAMES = ["derivatives.yaml", "functions.yaml", "gradmill.toml", "reference.py", "specset.toml"]
NOTICE = "specs=.: the spec set of this folder, which has specset.toml\n"


@pytest.mark.parametrize("base", ["core", "torch"])
def test_what_it_writes_passes_a_check_and_a_run(tmp_path: Path, base: str) -> None:
    run = forked.gradmill(["init", "new/set", f"specs={base}"], tmp_path).clean()
    folder = tmp_path / "new" / "set"
    assert sorted(run.stdout.splitlines()) == [*(f"new/set/{name}" for name in NAMES), "next: cd new/set && gradmill"]
    assert sorted(files_in(folder)) == NAMES
    check = forked.gradmill(["check"], folder)
    assert check == (0, "set: no problems\n", NOTICE)
    run = forked.gradmill([], folder)
    assert (run.status, run.stderr) == (0, NOTICE)
    assert (folder / "cache" / "set" / ".gitignore").read_bytes() == b"*\n"
    assert b"struct TORCH_API CubeBackward0 : " in (folder / "generated" / "set" / "Functions.h").read_bytes()
    names = ("cube", "toy::cube", "torch.ops.toy.cube")
    explained = [forked.gradmill(["explain", name], folder).stdout for name in names]
    assert explained[0].startswith("cube(Tensor self) -> Tensor: function\n") and len({*explained}) == 1
    assert "../reference.py" in forked.gradmill(["--show-settings"], folder / "generated").stdout


def test_it_begins_over_the_installed_torch_in_the_current_folder(tmp_path: Path) -> None:
    run = forked.gradmill(["init"], tmp_path).clean()
    assert sorted(run.stdout.splitlines()) == sorted([*NAMES, "next: gradmill"])
    assert '\nspecs = "torch" ' in (tmp_path / "specset.toml").read_text()


@pytest.mark.parametrize("name", [*NAMES, "native_functions.yaml", "aten/src/ATen/native/native_functions.yaml"])
def test_it_overwrites_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    run = forked.gradmill(["init"], tmp_path).failed(f"ERROR: init: {name}: there is such a file\n", status=3)
    assert files_in(tmp_path) == {name: b"mine"}
    assert run.stderr.endswith("\n  name another folder: gradmill init FOLDER\n")


def test_a_link_that_leads_nowhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "reference.py").symlink_to(tmp_path / "elsewhere.py")
    with pytest.raises(SpecError, match=r"reference\.py: there is such a file"):
        init(str(tmp_path / "set"))
    assert not (tmp_path / "elsewhere.py").exists()


def test_a_disk_that_fills_up_leaves_no_part_of_a_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def put(path: str, data: bytes) -> None:
        if path.endswith("reference.py"):
            raise OSError(28, "No space left on device", path)
        put_file(path, data)

    monkeypatch.setattr(module, "put_file", put)
    with pytest.raises(OSError, match="No space left"):
        init(str(tmp_path))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["a", "b"], "init: 'b' is not expected here\n  name one folder"),
        (["specs=mine"], "init: specs=mine: a set begins on top of torch or core\n  then edit [base] in specset.toml"),
        (["file"], "file"),
    ],
)
def test_what_is_wrong_is_refused(tmp_path: Path, words: list[str], text: str) -> None:
    (tmp_path / "file").touch()
    forked.gradmill(["init", *words], tmp_path).failed(f"ERROR: {text}", status=3)
    assert sorted(files_in(tmp_path)) == ["file"]


def test_the_page_for_vendors_shows_the_files(tmp_path: Path) -> None:
    init(str(tmp_path), "torch")
    page = (ROOT / "docs" / "vendors.md").read_text()
    shown = {name: text for name, text in re.findall(r"```\w+ (\S+)\n(.*?)```", page, re.DOTALL) if name in NAMES}
    assert shown == {name: data.decode() for name, data in files_in(tmp_path).items()}


def test_what_the_page_adds_is_right(tmp_path: Path) -> None:
    init(str(tmp_path), "core")
    page = (ROOT / "docs" / "vendors.md").read_text().partition("## An out variant, ")[2].partition("\n## ")[0]
    shown = dict(re.findall(r"```(\w+)\n(.*?)```", page, re.DOTALL))
    view = "- name: row(Tensor(a) self, int index) -> Tensor(a)\n  self: grad.expand_symint(self.sym_sizes())\n"
    for name, text in (("functions.yaml", shown["yaml"]), ("derivatives.yaml", view), ("specset.toml", shown["toml"])):
        (tmp_path / name).write_text(f"{(tmp_path / name).read_text()}\n{text}")
    assert forked.gradmill(["specs=.", "strict=1"], tmp_path).clean().status == 0
    made = "".join(data.decode() for name, data in files_in(tmp_path / "generated").items())
    texts = ("_ops::cube_out::redispatch", "_ops::row::call", "toy::cubes(", "as_view(")
    assert [text for text in texts if text not in made] == []
    assert not re.search(r"\bat::(_ops::|redispatch::)?(_foreach_)?(cube|row)", made)
