"""Damage to what the cache remembers, wherever it is, and to generated files is noticed and mended.

Damage of each kind to each file of the cache is in `front/test_cache.py`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from copies import copy_of
from project import CORE, SHARDS, Project

from never_wrong.builds import Kept, Result, clean_build
from never_wrong.damage import Trials
from never_wrong.edits import formula
from never_wrong.seed import MORE, REPEAT, SEED, seeded
from never_wrong.specset import Specs, make_folder, read_specs, subset

FAMILIES = 12  # operators of the set: enough for every kind of artifact
PLACES = 3  # where one file is damaged, one after another

Damage = Callable[[Path, Random], None]


def _flip(path: Path, random: Random) -> None:
    """One bit, at the same size and time of change; an empty file, as that of the lock, has none."""
    stat, data = path.stat(), bytearray(path.read_bytes())
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    path.write_bytes(bytes(data))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def _truncate(path: Path, random: Random) -> None:
    path.write_bytes(path.read_bytes()[: random.randrange(1, max(path.stat().st_size, 2))])


def _empty(path: Path, random: Random) -> None:
    path.write_bytes(b"")


def _delete(path: Path, random: Random) -> None:
    path.unlink()


def _lengthen(path: Path, random: Random) -> None:
    path.write_bytes(path.read_bytes() + random.randbytes(50))


def _replace(path: Path, random: Random) -> None:
    path.write_bytes(random.randbytes(path.stat().st_size))


DAMAGE: list[Damage] = [_flip, _truncate, _empty, _delete, _lengthen, _replace]


class Damaged:
    """A small set, built; copies of it are damaged. `edited` is the same set after an edit."""

    def __init__(self, folder: Path) -> None:
        random = seeded(SEED)
        self.folder = folder
        self.specs = subset(read_specs(CORE), random, FAMILIES)
        self.edited = self.specs.copy()
        assert any(formula(self.edited, at, random) for at in range(len(self.edited.derivatives)))
        make_folder(folder / "built" / "set", CORE, (CORE / "RELEASE").read_text())
        self._built = Project.at(folder / "built")
        self._sound = {id(s): self._clean(s) for s in (self.edited, self.specs)}  # and then the set is unedited
        with closing(Kept(self._built.specs, self._built.folder)) as kept:
            kept.update()
        cache = self._copy().cache
        self.cached = sorted(str(p.relative_to(cache.parent)) for p in cache.rglob("*") if p.is_file())

    def _clean(self, specs: Specs) -> Result:
        specs.write(self._built.specs)
        result = clean_build(self._built.specs, self.folder / "clean")
        assert result.accepted, result
        return result

    def _copy(self) -> Project:
        shutil.rmtree(self.folder / "kept", ignore_errors=True)
        return copy_of(self._built, self.folder / "kept")

    def assert_mended(self, name: str, damage: Damage, random: Random) -> None:
        """Damages a file: the next run is right, so is one after an edit, and the manifest is put back."""
        project = self._copy()
        path = project.folder / name
        data = path.read_bytes()
        damage(path, random)
        with closing(Kept(project.specs, project.folder)) as kept:
            assert kept.update() == self._sound[id(self.specs)], REPEAT
            if path.suffix in (".json", ".d", ".h", ".cpp"):
                assert path.read_bytes() == data
            self.edited.write(project.specs)
            kept.reopen()
            assert kept.update() == self._sound[id(self.edited)], REPEAT


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Damaged]:
    yield Damaged(tmp_path_factory.mktemp("damaged"))


@pytest.mark.sampled(6)
@pytest.mark.alternates(2)
@pytest.mark.parametrize("damage", [_flip, _truncate])
@pytest.mark.parametrize("pattern", ["rows-*[0-9a-f]", "rows-*.seal", "rows-*.values", "last-*"])
def test_what_is_remembered_is_mended_wherever_it_is_damaged(damaged: Damaged, pattern: str, damage: Damage) -> None:
    random = seeded(SEED)
    (name,) = (name for name in damaged.cached if Path(name).match(pattern))
    for _ in range(PLACES):
        damaged.assert_mended(name, damage, random)


@pytest.mark.sampled(6)
@pytest.mark.alternates(2)
@pytest.mark.parametrize("damage", DAMAGE)
def test_every_generated_file_that_is_damaged_is_put_back(damaged: Damaged, damage: Damage) -> None:
    random = seeded(SEED)
    for name in SHARDS:
        damaged.assert_mended(f"generated/{name}", damage, random)


def test_a_cache_full_of_rubbish_is_mended(project: Project) -> None:
    before = project.build().files()
    random = seeded(SEED)
    for path in project.cached():
        if path.name != "set":  # which shows that the folder is gradmill's
            path.write_bytes(random.randbytes(random.randrange(2000)))
    run = project.run()
    assert run.status == 0
    assert (
        run.stderr == f"{project.rows}: the store is damaged (file is not a database): it is discarded, and rebuilt\n"
    )
    assert project.files() == before
    assert project.run().ran == []


@pytest.mark.alternates(4)
@pytest.mark.slow
def test_damages_that_pile_up_are_mended(tmp_path: Path) -> None:
    """The whole is `python -m tests.never_wrong.damage`."""
    wrong = [trial for trial in Trials(tmp_path, seeded(SEED)).trials(40 * MORE) if trial.wrong]
    assert not wrong, f"{REPEAT}\n" + "\n".join(f"{trial.what}: {trial.wrong}" for trial in wrong)
