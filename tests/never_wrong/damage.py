"""Whatever is damaged in the cache, the next three runs are right.

    python -m tests.campaigns damage [--count N] [--seed N] [--minutes M]

Damages pile up on one cache: one bit, a cut, a range of zeros, two ranges that change places, a file or all of them as
they were some runs ago, nothing at all, a folder, a pipe or a link in a file's place; before a run, or after it has
begun to read. Meanwhile the set is edited, and layouts, shards and families change. After each damage three runs are
compared with clean ones: generated files, manifest, exit status; now and then the page, too, whose store is one of
those damaged. None may print more than that the store is discarded.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random

import forked
from manifests import manifest_in
from project import CORE, files_in

from .campaign import Trial, options, run
from .specset import DERIVATIVES, Specs, make_folder, of_families, read_specs

COUNT = 5000
OPERATORS = ["add", "mul", "exp", "full"]
TEXTS = 6  # of the set
BACK = 4  # states of the cache that may come back
SECONDS = 60  # that a run may take
DISCARDED = "it is discarded, and rebuilt"
PAGE = "page/"  # what the names of files of the page begin with, among the generated ones

LAYOUTS: list[dict[str, object]] = [
    {},
    {"layout": "split", "shards": 2},
    {"layout": "split", "shards": 5},
    {"families": "nodes"},
]


# ---- kinds of damage: to a file, of which there may be an older state


def flip(path: Path, older: Path, random: Random) -> None:
    data = bytearray(path.read_bytes() or b"x")
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    _overwrite(path, bytes(data))


def cut(path: Path, older: Path, random: Random) -> None:
    os.truncate(path, random.randrange(path.stat().st_size + 1))


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


def roll_back_in_place(path: Path, older: Path, random: Random) -> None:
    if older.is_file():
        _overwrite(path, older.read_bytes())


def remove(path: Path, older: Path, random: Random) -> None:
    path.unlink()


def folder(path: Path, older: Path, random: Random) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path, older: Path, random: Random) -> None:
    path.unlink()
    os.mkfifo(path)


def link(path: Path, older: Path, random: Random) -> None:
    path.unlink()
    path.symlink_to(random.choice([older, path.parent / "nowhere"]))


Damage = Callable[[Path, Path, Random], None]
KINDS: list[Damage] = [flip, flip, cut, zero, swap, swap, roll_back, roll_back_in_place, remove, folder, pipe, link]


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


class Trials:
    """A small set, its one cache that is damaged again and again, and what clean runs give."""

    def __init__(self, folder: Path, random: Random) -> None:
        self._random = random
        self._folder = folder
        self._set = make_folder(folder / "set", CORE, (CORE / "RELEASE").read_text())
        self._texts = [_edited(number) for number in range(TEXTS)]
        self._text, self._settings = 0, LAYOUTS[0]
        self._clean: dict[str, dict[str, bytes]] = {}
        self._cache, self._generated = folder / "cache", folder / "generated"
        self._states: deque[Path] = deque()
        self._saved = 0
        self._expect(self._run())

    def trials(self) -> Iterator[Trial]:
        """Damages the cache again and again."""
        while True:
            self._save()
            during = self._random.random() < 0.2
            what, damage = self._damage()
            reported, wrong = False, ""
            if not during:
                damage()
            for number in range(3):
                if self._random.random() < 0.5 or during:
                    self._turn()
                message = self._run(damage if during and not number else None)
                reported |= DISCARDED in message.stderr
                pages = self._random.random() < 0.4
                if pages and not message.status:
                    paged = self._run(command=["page"])
                    reported |= DISCARDED in paged.stderr
                    message = paged._replace(stderr=message.stderr + paged.stderr)
                wrong = self._expect(message, pages=pages)
                if wrong:
                    wrong = f"run {number + 1}, set {self._text}, {self._settings}: {wrong}"
                    break
            also = "discarded" if reported else ""
            yield Trial(f"{what}{' during a run' if during else ''}", wrong, also=also)
            if wrong:  # start again, or one error is reported again and again
                shutil.rmtree(self._cache)
                shutil.rmtree(self._generated, ignore_errors=True)
                self._run()

    def _damage(self) -> tuple[str, Callable[[], None]]:
        """A damage to a file, or to all."""
        random = self._random
        older = random.choice(self._states)
        files = sorted(path for path in self._cache.rglob("*") if path.is_file())
        if random.random() < 0.08:
            return "all: roll_back", lambda: self._roll_back_all(older)
        store = [path for path in files if path.name.startswith("rows")]
        path = random.choice(store if random.random() < 0.6 else files)
        kind = random.choice(
            [kind for kind in KINDS if kind is not cut or not path.name.endswith("-shm")]
        )  # SQLite maps it
        before = older / "cache" / path.relative_to(self._cache)
        seed = random.random()
        name = path.name if path in store else path.name.partition("-")[0]
        name = f"page/{name}" if path.parent.name == "page" else name
        what = f"{name}: {kind.__name__}"
        return what, lambda: kind(path, before, Random(str(seed))) if path.is_file() else None

    def _roll_back_all(self, older: Path) -> None:
        shutil.rmtree(self._cache)
        shutil.copytree(older / "cache", self._cache, symlinks=True)

    def _save(self) -> None:
        """Keeps a state of the cache."""
        if self._random.random() < 0.3 or not self._states:
            self._saved += 1
            state = self._folder / "states" / str(self._saved)
            shutil.copytree(self._cache, state / "cache", symlinks=True, ignore=_no_files)
            self._states.append(state)
            if len(self._states) > BACK:
                shutil.rmtree(self._states.popleft())

    def _turn(self) -> None:
        """Edits the set, or changes how it is built."""
        self._text = self._random.randrange(TEXTS)
        if self._random.random() < 0.3:
            self._settings = self._random.choice(LAYOUTS)

    def _words(self, cache: Path, generated: Path) -> list[str]:
        result = {"specs": self._set, "cache": cache, "generated": generated, **self._settings}
        return [f"{name}={value}" for name, value in result.items()]

    def _run(self, damage: Callable[[], None] | None = None, command: Sequence[str] = ()) -> forked.Run:
        """A run of the set as it is now. `damage` is done when it has begun to read its store."""
        self._texts[self._text].write(self._set)
        words = [*command, *self._words(self._cache, self._generated)]
        signal.alarm(SECONDS)
        try:
            return forked.forked(lambda: _damaged_run(words, damage), ["gradmill", *words], self._folder)
        finally:
            signal.alarm(0)

    def _expect(self, ended: forked.Run, *, pages: bool = False) -> str:
        """What is wrong with a run, and with the page where it was made, "" for nothing."""
        clean = {name: data for name, data in self._clean_files().items() if pages or not name.startswith(PAGE)}
        if ended.status or "Traceback" in ended.stderr:
            return f"status {ended.status}: {ended.stderr[-1500:]}"
        if any(DISCARDED not in line for line in ended.stderr.splitlines()):
            return f"it printed: {ended.stderr}"
        result = self._made(self._cache, self._generated)
        result = {name: data for name, data in result.items() if pages or not name.startswith(PAGE)}
        wrong = sorted(name for name in {*result, *clean} if result.get(name) != clean.get(name))
        return f"files differ: {', '.join(wrong)}" if wrong else ""

    def _clean_files(self) -> dict[str, bytes]:
        key = f"{self._text} {self._settings}"
        if key not in self._clean:
            cache, generated = self._folder / "clean" / "cache", self._folder / "clean" / "generated"
            words = self._words(cache, generated)
            for line in (words, ["page", *words]):
                ended = forked.forked(partial(forked.run_gradmill, line), ["gradmill", *line], self._folder)
                assert (ended.status, ended.stderr) == (0, ""), ended
            self._clean[key] = self._made(cache, generated)
            shutil.rmtree(self._folder / "clean")
        return self._clean[key]

    def _made(self, cache: Path, generated: Path) -> dict[str, bytes]:
        """The generated files, and the manifest; depfiles name folders."""
        result = {name: data for name, data in files_in(generated).items() if not name.endswith(".d")}
        return result | {"manifest.json": manifest_in(cache / "set")}


def _edited(number: int) -> Specs:
    """The set with a formula of its own."""
    specs = of_families(read_specs(CORE), OPERATORS)
    entries = specs.entries[DERIVATIVES]
    at = next(place for place, entry in enumerate(entries) if entry.startswith("- name: exp("))
    entries[at] = entries[at].replace("result.conj()", f"result.conj() * {number}" if number else "result.conj()")
    return specs


def _damaged_run(words: list[str], damage: Callable[[], None] | None) -> int:
    """A run in a process of its own, whose store may be damaged as soon as it has begun to read it."""
    from gradmill.store.sqlite import SqliteStore

    begin = SqliteStore.begin

    def begun(store: SqliteStore) -> bool:
        result = begin(store)
        if damage is not None:
            damage()
        return result

    SqliteStore.begin = begun  # type: ignore[method-assign]
    return forked.run_gradmill(words)


def _no_files(place: str, names: list[str]) -> list[str]:
    """What is no file: a pipe would be waited for."""
    return [name for name in names if not (Path(place, name).is_file() or Path(place, name).is_dir())]


def main(words: Sequence[str]) -> int:
    wanted = options(__doc__, COUNT).parse_args(words)
    with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
        return run(Trials(Path(name), Random(wanted.seed)).trials(), wanted)
