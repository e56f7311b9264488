"""Whatever is damaged in the cache, the next runs are right.

    python -m tests.campaigns damage [--count N] [--seed N] [--minutes M]

Damages pile up on the one cache of a chain of edits: one bit, a cut, a range of zeros, two ranges that change places, a
file or all of them as they were some runs ago, nothing at all, a folder, a pipe or a link in a file's place; before a
run, or after it has begun to read. Every third edit is followed by one. Now and then the page is written and compared,
too, whose store is one of those damaged. No run may print more than a clean one, but that the store is discarded.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

import forked

from .campaign import options, run
from .chains import Chain
from .runs import Made, Place, difference

COUNT = 5000
BACK = 4  # states of the cache that may come back
SECONDS = 60  # that a run may take
DISCARDED = "it is discarded, and rebuilt"
PAGE = "page/"  # what the names of files of the page begin with, among the generated ones


# ---- kinds of damage

Damage = Callable[[Path, Path, Random], object]  # to a file, of which there may be an older state


def flip(path: Path, older: Path, random: Random) -> None:
    data = bytearray(path.read_bytes() or b"x")
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    _overwrite(path, bytes(data))


def zero(path: Path, older: Path, random: Random) -> None:
    data = bytearray(path.read_bytes())
    begin, size = _range(len(data), random)
    data[begin : begin + size] = bytes(size)
    _overwrite(path, bytes(data))


def swap(path: Path, older: Path, random: Random) -> None:
    data = bytearray(path.read_bytes())
    size = min(random.choice([16, 512, 4096]), len(data) // 2)
    if size:
        one, two = sorted(random.randrange(len(data) // size) * size for _ in range(2))
        data[one : one + size], data[two : two + size] = data[two : two + size], data[one : one + size]
    _overwrite(path, bytes(data))


def roll_back(path: Path, older: Path, random: Random) -> None:
    if older.is_file():
        path.unlink()
        shutil.copy2(older, path)


def _instead(make: Callable[[Path, Path], object]) -> Damage:
    """What is put in the place of a file."""

    def damage(path: Path, older: Path, random: Random) -> None:
        path.unlink()
        make(path, older)

    return damage


KINDS: dict[str, Damage] = {
    "flip": flip,
    "cut": lambda path, older, random: os.truncate(path, random.randrange(path.stat().st_size + 1)),
    "zero": zero,
    "swap": swap,
    "roll_back": roll_back,
    "roll_back_in_place": lambda path, older, _: older.is_file() and _overwrite(path, older.read_bytes()),
    "remove": lambda path, older, _: path.unlink(),
    "empty": lambda path, older, _: path.write_bytes(b""),
    "lengthen": lambda path, older, random: path.write_bytes(path.read_bytes() + random.randbytes(5000)),
    "folder": _instead(lambda path, older: path.mkdir()),
    "pipe": _instead(lambda path, older: os.mkfifo(path)),
    "link": _instead(lambda path, older: path.symlink_to(older)),
    "link_to_nowhere": _instead(lambda path, older: path.symlink_to(path.parent / "nowhere" / "at all")),
}


def _range(length: int, random: Random) -> tuple[int, int]:
    begin = random.randrange(length + 1)
    return begin, min(random.choice([1, 64, 4096, 20_000]), length - begin)


def _overwrite(path: Path, data: bytes) -> None:
    """In place, with the time of change that the file had."""
    stat = path.stat()
    with path.open("r+b") as file:
        file.write(data)
        file.truncate(len(data))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


# ---- trials


class Damaged(Chain):
    """A chain of edits of a small set, whose cache is damaged again and again."""

    def __init__(self, folder: Path, random: Random) -> None:
        super().__init__(folder, random, "tiny")
        self._saves = folder / "states"
        self._saved: deque[Path] = deque()
        self._damage_in_run: Callable[[], object] | None = None

    def _disturb(self, kind: str, variables: Mapping[str, object], clean: Made) -> tuple[str, str]:
        if not self._place.cache.exists() or self._random.random() < 0.65:
            return kind, ""
        self._save()
        kind, damage = self._damage()
        if self._random.random() < 0.2:
            self._damage_in_run = damage
            return f"{kind} during a run", ""
        damage()
        return kind, ""

    def _damage(self) -> tuple[str, Callable[[], object]]:
        """A damage to a file, or to all."""
        random, cache = self._random, self._place.cache
        older = random.choice(self._saved)
        files = sorted(path for path in cache.rglob("*") if path.is_file())
        if random.random() < 0.08 or not files:
            return "all: roll_back", lambda: (shutil.rmtree(cache), shutil.copytree(older, cache, symlinks=True))
        store = [path for path in files if path.name.startswith("rows")]
        path = random.choice(store if store and random.random() < 0.6 else files)
        fitting = [kind for kind in KINDS if kind != "cut" or not path.name.endswith("-shm")]  # SQLite maps it
        kind, seed = random.choice([*fitting, "flip", "swap"]), random.random()
        name = re.sub("-[0-9a-f]{8,}", "", path.relative_to(cache / "set").as_posix())
        before = older / path.relative_to(cache)
        return f"{name}: {kind}", lambda: KINDS[kind](path, before, Random(seed)) if path.is_file() else None

    def _save(self) -> None:
        """Keeps a state of the cache."""
        if self._random.random() < 0.3 or not self._saved:
            state = Path(tempfile.mkdtemp(dir=self._saves.parent, prefix=self._saves.name))
            shutil.copytree(self._place.cache, state, symlinks=True, ignore=_no_files, dirs_exist_ok=True)
            self._saved.append(state)
            if len(self._saved) > BACK:
                shutil.rmtree(self._saved.popleft())

    def _run(self, place: Place, variables: Mapping[str, object]) -> Made:
        """A run of the set, without what it prints of a damaged store, and without the page."""
        damage, words = self._damage_in_run, ["run", "-v", *place.words(variables)]
        signal.alarm(SECONDS)
        if damage is None:
            made = place.run(**variables)
        else:
            self._damage_in_run = None
            run_ = forked.forked(lambda: _damaged_run(words, damage), ["gradmill", *words], self._folder)
            made = place.made(run_, variables)
        signal.alarm(0)
        return _plain(made)._replace(files={n: data for n, data in made.files.items() if not n.startswith(PAGE)})

    def _again(self, variables: Mapping[str, object], first: Made) -> str:
        wrong = super()._again(variables, first)
        if wrong or first.run.status or self._random.random() < 0.7:
            return wrong
        paged, clean = (_plain(place.run("page", **variables)) for place in (self._place, self._clean_place))
        return difference(paged, clean, {})


def _plain(made: Made) -> Made:
    """What a run left, without what it printed of a damaged store."""
    printed = "".join(line for line in made.run.stderr.splitlines(keepends=True) if DISCARDED not in line)
    return made._replace(run=made.run._replace(stderr=printed))


def _damaged_run(words: list[str], damage: Callable[[], object]) -> int:
    """A run in a process of its own, whose store is damaged as soon as it has begun to read it."""
    from gradmill.store.sqlite import SqliteStore

    begin = SqliteStore.begin

    def begun(store: SqliteStore) -> object:
        result = begin(store)
        damage()
        return result

    SqliteStore.begin = begun  # type: ignore[assignment, method-assign]
    return forked.run_gradmill(words)


def _no_files(place: str, names: list[str]) -> list[str]:
    """What is no file: a pipe would be waited for."""
    return [name for name in names if not (Path(place, name).is_file() or Path(place, name).is_dir())]


def main(words: Sequence[str]) -> int:
    wanted = options(__doc__, COUNT).parse_args(words)
    with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
        return run(Damaged(Path(name), Random(wanted.seed)).steps(), wanted)
