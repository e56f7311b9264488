"""Which release a version means, that the table of changes gives facts for all of them, and how one is added."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from zipfile import Path as Member
from zipfile import ZipFile

import add_release
import pytest
from add_release import CLASSES, FOLDER, FUNCTIONS, HELPERS, INCLUDE, NATIVE, README, TABLE, TABLES, Added, add, merged
from project import ROOT, Project

from gradmill.problems.problem import SpecError
from gradmill.releases import KNOWN, facts, minor, newest_at, resolve_version
from gradmill.releases.names import Names, digest_of_source, generator_of, names_of, read_names
from gradmill.releases.table import NAMES_OF
from releases import WHEELS, Broken, wheel_of
from releases.generator import rows_of_generator
from releases.package_of_checkout import package_of
from releases.rules import missing_rows
from releases.test_all_releases import available


@pytest.mark.parametrize("version", ["2.13", "2.13.0", "2.13.1", "2.13.0+cpu", "2.13.0+cu130"])
def test_a_known_version_is_its_minor_release(version: str) -> None:
    assert resolve_version(version) == ("2.13", "")


def test_every_known_release_resolves_to_itself_without_a_warning() -> None:
    assert [resolve_version(version) for version in KNOWN] == [(version.rpartition(".")[0], "") for version in KNOWN]


def test_known_releases_are_in_order() -> None:
    assert sorted(KNOWN, key=lambda version: [int(part) for part in version.split(".")]) == list(KNOWN)


@pytest.mark.parametrize("version", ["2.99.0", "3.0", "3.0.0a0+git1234"])
def test_a_newer_version_is_read_as_the_newest_known_with_a_warning(version: str) -> None:
    release, warning = resolve_version(version)
    assert release == KNOWN[-1].rpartition(".")[0]
    assert version in warning
    assert release in warning


@pytest.mark.parametrize("version", ["2.3", "2.3.1", "1.13.1", "0", "", "latest", "v2.13.0", "2", "2.x"])
def test_an_older_or_malformed_version_is_refused_with_the_known_ones(version: str) -> None:
    with pytest.raises(SpecError) as caught:
        resolve_version(version)
    assert f"'{version}' is not known" in caught.value.problem
    assert KNOWN[0] in caught.value.hint


def test_newest_at_takes_numbers_for_numbers() -> None:
    assert newest_at("2.10", ["2.4", "2.9", "2.10", "2.11"]) == "2.10"
    assert newest_at("2.8", ["2.4", "2.9", "2.10"]) == "2.4"


def test_newest_at_is_none_when_all_are_newer() -> None:
    assert newest_at("2.4", ["2.5", "2.10"]) is None


# ---- a release that is added

_MAJOR, _MINOR, _ = KNOWN[-1].split(".")
NEXT = f"{_MAJOR}.{int(_MINOR) + 1}.0"


GENERATOR = {"torchgen/model.py 0123", *(" ".join(row) for row in list(generator_of(minor(KNOWN[-1])).items())[:3])}


def tables() -> Added:
    """The tables as they are."""
    names = {name: (FOLDER / f"{name}.txt").read_text() for name in TABLES}
    return Added(TABLE.read_text(), README.read_text(), names)


def package(path: Path, names: Names) -> ZipFile:
    """A package that declares these names."""
    helpers = (
        f"Tensor {name}({', '.join(f'int a{i}' if i < least else f'int a{i} = 0' for i in range(most))});\n"
        for name, (least, most) in names.helpers.items()
    )
    with ZipFile(path, "w") as archive:
        functions = "".join(
            f"- func: {name}({_parameters(most)}) -> Tensor\n" for name, most in names.functions.items()
        )
        archive.writestr(NATIVE, functions)
        archive.writestr(INCLUDE + HELPERS, "".join(helpers))
        archive.writestr(INCLUDE + FUNCTIONS[0], "".join(f"void {name}();\n" for name in names.others))
        methods = "".join(f"  void {name}({_parameters(most)});\n" for name, most in names.methods.items())
        archive.writestr(INCLUDE + CLASSES[0], methods)
    return ZipFile(path)


def _parameters(count: int | None) -> str:
    return "..." if count is None else ", ".join(f"int a{i}" for i in range(count))


def made_up() -> Names:
    """The names of the newest release, a few of them changed: new, without another, back again, with more arguments."""
    known = names_of(minor(KNOWN[-1]))
    assert "cholesky" not in known.functions and "cholesky" in names_of("2.13").functions
    return Names(
        _changed({**known.functions, "new_function": 2, "cholesky": 3, "mul": 7}, "add"),
        tuple(sorted({*known.others, "new_other"})),
        _changed({**known.methods, "new_method": 0, "exp": None}, "numel"),
        {**known.helpers, "cumsum_backward": (2, 5), "new_backward": (1, 3)},
    )


def _changed(names: dict[str, int | None], without: str) -> dict[str, int | None]:
    return {name: names[name] for name in sorted(names) if name != without}


@pytest.fixture
def added(tmp_path: Path) -> Added:
    with package(tmp_path / "next.whl", made_up()) as archive:
        return add(NEXT, Member(archive), GENERATOR, *tables())


def test_the_names_of_every_known_release_were_read() -> None:
    assert minor(NAMES_OF) == minor(KNOWN[-1]), f"python -m tests.add_release {KNOWN[-1]}"


def test_an_added_release_has_its_own_names_and_all_others_keep_theirs(added: Added) -> None:
    assert read_names(minor(NEXT), added.names) == made_up()
    assert generator_of(minor(NEXT), added.names["generator"]) == dict(row.split() for row in GENERATOR)
    for version in map(minor, KNOWN):
        assert read_names(version, added.names) == names_of(version)
        assert generator_of(version, added.names["generator"]) == generator_of(version)


def test_a_later_release_has_the_names_of_the_newest_that_was_read(added: Added) -> None:
    assert read_names("99.0", tables().names) == names_of(minor(KNOWN[-1]))
    assert read_names("99.0", added.names) == made_up()


@pytest.mark.parametrize("version", KNOWN)
def test_the_files_of_the_generator_are_known_for_every_release(version: str) -> None:
    files = generator_of(minor(version))
    assert {"tools/autograd/gen_variable_type.py", "tools/autograd/load_derivatives.py", "torchgen/model.py"} < {*files}
    assert all(re.fullmatch("[0-9a-f]{32}", digest) for digest in files.values())


def test_the_digests_of_the_generator_are_those_of_the_installed_package(torch_specs: Path) -> None:
    for path, digest in generator_of(minor(metadata.version("torch"))).items():
        own = (
            torch_specs / path.removeprefix("tools/") if path.startswith("tools/") else torch_specs.parent.parent / path
        )
        assert digest_of_source(own.read_bytes()) == digest, path


@pytest.mark.slow(16)
def test_the_files_of_the_generator_are_those_that_the_script_runs(torch_specs: Path, tmp_path: Path) -> None:
    rows = rows_of_generator(torch_specs.parent.parent, tmp_path.resolve())
    assert rows == {" ".join(row) for row in generator_of(minor(metadata.version("torch"))).items()}


def test_an_added_release_is_in_the_table(added: Added) -> None:
    actual: dict[str, object] = {}
    exec(added.table, actual)  # noqa: S102
    assert actual["KNOWN"] == (*KNOWN, NEXT)
    assert actual["NAMES_OF"] == NEXT
    assert f"{minor(KNOWN[0])} to {minor(NEXT)} are supported" in added.readme


def test_a_release_that_is_added_again_or_a_patch_of_it_takes_its_place(added: Added, tmp_path: Path) -> None:
    with package(tmp_path / "again.whl", made_up()) as archive:
        assert add(NEXT, Member(archive), GENERATOR, *added) == added
    with package(tmp_path / "patch.whl", names_of(minor(KNOWN[-1]))) as archive:
        patched = add(f"{minor(NEXT)}.1", Member(archive), GENERATOR, *added)
    assert read_names(minor(NEXT), patched.names) == names_of(minor(KNOWN[-1]))
    assert added.table.replace(NEXT, f"{minor(NEXT)}.1") == patched.table


def test_an_older_release_leaves_the_names_of_later_ones(tmp_path: Path) -> None:
    with package(tmp_path / "old.whl", made_up()) as archive:
        actual = add("2.3.1", Member(archive), GENERATOR, *tables())
    assert read_names("2.3", actual.names) == made_up()
    assert read_names("2.4", actual.names) == names_of("2.4")
    assert f'NAMES_OF = "{KNOWN[-1]}"' in actual.table


@pytest.mark.parametrize(("version", "members"), [(minor(NEXT), [NATIVE, INCLUDE + HELPERS]), (NEXT, [NATIVE])])
def test_what_is_no_release_is_not_added(version: str, members: list[str], tmp_path: Path) -> None:
    with ZipFile(tmp_path / "none.whl", "w") as archive:
        for name in members:
            archive.writestr(name, "")
    with ZipFile(tmp_path / "none.whl") as archive, pytest.raises(add_release.Failed):
        add(version, Member(archive), GENERATOR, *tables())


def test_a_release_that_was_added_by_hand_says_so_on_every_run(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradmill.releases.KNOWN", (*KNOWN, NEXT))
    (project.specs / "RELEASE").write_text(NEXT)
    project.set_formula(
        "exp", "self", "bessel_j1_backward(grad, self, result)"
    )  # a name that only the newest releases have
    message = (
        f"warning: PyTorch {minor(NEXT)} was added without its names: formulas may call those of {minor(KNOWN[-1])};"
    )
    for _ in range(2):
        run = project.run_patched(strict=1)
        assert (run.status, run.stderr.count("\n")) == (0, 1), run.stderr
        assert run.stderr.startswith(message)
    assert f"python -m tests.add_release {NEXT} reads them" in run.stderr


def test_the_readme_says_which_releases_are_known() -> None:
    assert f"{minor(KNOWN[0])} to {minor(KNOWN[-1])} are supported" in README.read_text()


def test_a_fact_of_torchgen_that_differs_is_reported_as_the_row_that_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torchgen = find_spec("torchgen")
    assert torchgen is not None and torchgen.origin
    root, version = Path(torchgen.origin).parent.parent, metadata.version("torch").partition("+")[0]
    assert missing_rows(version, root) == []
    of = minor(version)
    text = "".join(facts._TEXTS)
    for old, new in (
        ("\nlstm_cell\n", "\nrecorded\n"),
        ("\nt = self\n", "\nt = other\n"),
        ("\n_scaled_dot_product_flash_attention; 2.5-", "\nbatched\n_scaled_dot_product_flash_attention; 2.5-"),
        ("\n5; -2.12\n10; 2.13-  # twice", "\n5; -2.12\n7; 2.13-  # twice"),
        ("\nout\nfunctional\n", "\nfunctional\nout\n"),
        ("//// trims_lines ?\n", "//// more ?\ntrue\n//// trims_lines ?\n"),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    monkeypatch.setattr(facts, "_TEXTS", [text])
    before = newest_at(of, [each for each in map(minor, KNOWN) if each != of])
    assert sorted(missing_rows(version, root)) == [
        "more: it is compared with nothing",
        f"trace_shards: 10; {of}-  # …",
        f"trace_shards: 7; …-{before}  # …",
        f"unrecorded: lstm_cell; {of}-  # …",
        f"unrecorded: recorded; …-{before}  # …",
        f"variants_from: mutable inplace functional out; …-{before}  # …",
        f"variants_from: mutable inplace out functional; {of}-  # …",
        f"views: t = other; …-{before}  # …",
        f"views: t = self; {of}-  # …",
        f"vmap_other_returns: batched; …-{before}  # …",
    ]


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Broken, match=r"it has no torchgen/gen\.py"):
        package_of(tmp_path, NEXT, tmp_path / "package")


class Clone:
    """A copy of the clone, in which releases are added."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        unwanted = shutil.ignore_patterns("__pycache__", ".*", "*.egg-info", "cache", "generated", "build")
        shutil.copytree(ROOT, folder, ignore=unwanted)

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "pipeline")}
        command = [sys.executable, "-m", *map(str, words)]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def path(self, path: Path) -> Path:
        """Where a file of the clone is in the copy."""
        return self.folder / path.relative_to(ROOT)

    def names(self) -> dict[str, str]:
        return {name: self.path(FOLDER / f"{name}.txt").read_text() for name in TABLES}


@pytest.mark.campaign
def test_a_release_that_was_removed_is_added_again_from_a_checkout(tmp_path: Path) -> None:
    """The newest release leaves the tables; its checkout brings the names back, and lists the rows to write."""
    newest, clone = KNOWN[-1], Clone(tmp_path / "clone")
    rows, known = sorted(clone.path(TABLE.with_name("facts")).glob("*.txt")), clone.path(TABLE)
    whole, names = {path: path.read_text() for path in (*rows, known)}, clone.names()
    older = [minor(version) for version in KNOWN[:-1]]
    for name, text in names.items():
        without = merged(text, set(), minor(newest), [minor(version) for version in KNOWN], older)
        clone.path(FOLDER / f"{name}.txt").write_text(without)
    assert clone.names() != names
    for path, text in whole.items():
        begun = f"; {minor(newest)}-" if path in rows else minor(newest)
        kept = (line for line in text.splitlines(True) if begun not in line)
        path.write_text("".join(kept) + (f'NAMES_OF = "{KNOWN[-2]}"\n' if path == known else ""))

    checkout = tmp_path / "checkout"
    as_checkout(available(partial(wheel_of, newest, WHEELS)), checkout)
    done = clone.run("tests.add_release", newest, "--checkout", checkout)
    assert (done.returncode, done.stderr) == (1, ""), done.stderr
    lost = {line for path in rows for line in whole[path].splitlines() if f"; {minor(newest)}-" in line}
    reported = [line for line in done.stdout.splitlines() if " rule: " in line]
    assert reported and all(any(row.partition(";")[0] in line for row in lost) for line in reported), done.stdout
    assert "error: _philox_randint_: func: '_philox_randint_' looks random" in done.stdout  # by another missing row
    assert clone.names() == names and f'NAMES_OF = "{newest}"' in known.read_text()


def as_checkout(wheel: Path, folder: Path) -> None:
    """What a wheel has of a release's sources, as PyTorch's repository has them."""
    places = {
        "torchgen/packaged/ATen/": "aten/src/ATen/",
        "torchgen/packaged/autograd/": "tools/autograd/",
        "torchgen/": "torchgen/",
        INCLUDE + "ATen/": "aten/src/ATen/",
        INCLUDE + "c10/": "c10/",
        INCLUDE + "torch/csrc/": "torch/csrc/",
        INCLUDE + "torch/headeronly/": "torch/headeronly/",
    }
    with ZipFile(wheel) as archive:
        for name in archive.namelist():
            place = next((place for place in places if name.startswith(place)), None)
            if place is not None and not name.endswith("/core/TensorBody.h"):  # it is generated
                target = folder / places[place] / name.removeprefix(place)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))


@pytest.mark.campaign
def test_one_command_adds_a_release(tmp_path: Path) -> None:
    """In a copy of the clone, with a release that is the newest one under another version, with other names."""
    clone, wheels = Clone(tmp_path / "clone"), tmp_path / "wheels"
    wheels.mkdir()
    renamed(available(partial(wheel_of, KNOWN[-1], WHEELS)), wheels / f"torch-{NEXT}-py3-none-any.whl")
    done = clone.run("tests.add_release", NEXT, "--wheels", wheels)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    (files, functions) = re.findall(r"(\d+) f", done.stdout)
    assert int(files) > 50 and int(functions) > 3000
    names = clone.names()
    assert "cumsum_backwards" in read_names(minor(NEXT), names).helpers
    assert "cumsum_backwards" not in read_names(minor(KNOWN[-1]), names).helpers
    checked = clone.run("pytest", "-n", "0", "-q", "-p", "no:cacheprovider", "tests/releases/test_releases.py")
    assert checked.returncode == 0, checked.stdout


def renamed(wheel: Path, path: Path) -> None:
    """A wheel of the next release: as another one, but for its version and for the name of a helper."""
    wanted = ("torchgen/", INCLUDE, "torch/version.py")
    with ZipFile(wheel) as old, ZipFile(path, "w") as new:
        for name in old.namelist():
            if name.startswith(wanted):
                data = old.read(name)
                if name == "torch/version.py":
                    data = data.replace(KNOWN[-1].encode(), NEXT.encode())
                if name in (INCLUDE + HELPERS, "torchgen/packaged/autograd/derivatives.yaml"):
                    data = data.replace(b"cumsum_backward(", b"cumsum_backwards(")
                new.writestr(name, data)
