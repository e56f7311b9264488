"""A spec set in a folder of its own, and runs of gradmill on it: the helper of the end-to-end tests."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

import forked
from forked import Run
from manifests import manifest_in

from gradmill.cli.commands.table import COMMANDS
from gradmill.families.family import Layout
from gradmill.families.table import FAMILIES
from gradmill.io.files import TICK
from gradmill.releases import resolve
from gradmill.session.own_code import running_code

ROOT = forked.ROOT
CORE = ROOT / "specs" / "core"


ANALYSIS = ["specs", "schemas", "derivatives", "infos", "foreach", "match"]
NODE_FILES = [
    "Functions.h",
    "Functions.cpp",
    "python_functions.h",
    "python_functions_0.cpp",
    "python_functions_1.cpp",
    "python_functions_2.cpp",
    "python_functions_3.cpp",
    "python_functions_4.cpp",
    "python_functionsEverything.cpp",
]
SHARDS = [*NODE_FILES, "variable_factories.h"]
KERNEL_TEMPLATES = tuple(
    name
    for family in FAMILIES.values()
    if family.row.by_default and family.row.needs not in ("", "Functions.h", "variable_factories.h")
    for name in family.row.templates
)
KERNEL_FILES = [  # of torch 2.13.0
    file.name
    for family in FAMILIES.values()
    if family.row.needs in KERNEL_TEMPLATES
    for file in family.files([], Layout(), resolve("2.13"))
]
SHARD_TASKS = [f"shard:{name}" for name in SHARDS]

RECORD = ".gradmill"  # the folder of the record of generated files, among these

_FLAT = {name: name for name in ("native_functions.yaml", "tags.yaml", "derivatives.yaml", "templates")}
PACKAGED = {
    "native_functions.yaml": "ATen/native/native_functions.yaml",
    "tags.yaml": "ATen/native/tags.yaml",
    "derivatives.yaml": "autograd/derivatives.yaml",
    "templates": "autograd/templates",
}


_STORE = re.compile(r"rows-[0-9a-f]{16}")


@cache
def _code() -> bytes:
    return running_code().digest


def in_cache(folder: Path, name: str) -> Path:
    """A file in a set's folder of the cache, which may be missing. `rows` stands for the name of the store: that which
    was used last, or of this gradmill."""
    if not name.startswith("rows"):
        return folder / name
    paths = [path for path in folder.glob("rows-*") if _STORE.match(path.name)]
    used = max(paths, key=lambda path: path.lstat().st_mtime_ns).name[:21] if paths else f"rows-{_code().hex()[:16]}"
    return folder / (used + name.removeprefix("rows"))


def with_end(text: str, end: str) -> str:
    """The text of pipeline/gradmill/stages/shard.py, changed so that each generated file has one more line."""
    before, joined, after = text.rpartition("part.encode()")
    assert joined
    return f'{before}{joined} + b"{end}\\n"{after}'


class Project:
    """A spec set under `folder`, with folders for the cache and for generated files beside it.

    `kernels`: with the templates of kernels and views, which take most of the time of a build.
    """

    def __init__(
        self,
        folder: Path,
        source: Path,
        version: str,
        *,
        packaged: bool = False,
        root: Path = ROOT,
        name: str = "set",
        kernels: bool = False,
    ) -> None:
        self._place(folder, packaged=packaged, root=root, name=name)
        result = PACKAGED if (source / "autograd").is_dir() else _FLAT
        for file, place in self._places.items():
            target = self.specs / place
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if file == "templates" else shutil.copyfile)(source / result[file], target)
        for template in () if kernels else KERNEL_TEMPLATES:
            self.path(f"templates/{template}").unlink(missing_ok=True)
        (self.specs / "RELEASE").write_text(version)

    def _place(self, folder: Path, *, packaged: bool, root: Path, name: str) -> None:
        self.root = root
        self.folder = folder
        self.specs = folder / name
        self.cache = folder / "cache"
        self.generated = folder / "generated"
        self.spare = folder / "spare"
        self._places = PACKAGED if packaged else _FLAT

    @classmethod
    def at(cls, folder: Path, *, packaged: bool = False) -> Project:
        """The project that is in a folder already."""
        project = cls.__new__(cls)
        project._place(folder, packaged=packaged, root=ROOT, name="set")
        return project

    def path(self, name: str) -> Path:
        """Where a file of the set is: `derivatives.yaml`, `templates/Functions.h`."""
        first, *rest = name.split("/")
        return self.specs.joinpath(self._places[first], *rest)

    # ---- edits

    def replace(self, name: str, old: str, new: str) -> None:
        """Replaces the one place in a file of the set where `old` stands."""
        replace_once(self.path(name), old, new)

    def set_formula(self, op: str, field: str, formula: str) -> None:
        """Replaces the one-line formula of a field in the entry of an operator."""
        path = self.path("derivatives.yaml")
        head, start, entry = path.read_text().partition(f"- name: {op}(")
        assert start, f"no entry for {op}"
        body, end, tail = entry.partition("\n\n")
        lines = body.split("\n")
        at = next(i for i, line in enumerate(lines) if line.lstrip().startswith(f"{field}:"))
        lines[at] = f"{lines[at][: lines[at].index(field)]}{field}: {formula}"
        path.write_text(head + start + "\n".join(lines) + end + tail)

    def remove_entry(self, op: str) -> None:
        """Removes the derivatives of an operator."""
        path = self.path("derivatives.yaml")
        head, start, rest = path.read_text().partition(f"- name: {op}(")
        assert start, f"no entry for {op}"
        path.write_text(head + rest.partition("\n\n")[2])

    def append(self, name: str, entry: str) -> None:
        """Adds text at the end of a file of the set."""
        with self.path(name).open("a") as file:
            file.write(f"\n{entry}\n")

    # ---- runs

    @property
    def values(self) -> dict[str, str]:
        """The variables that name its folders."""
        return {"specs": str(self.specs), "generated": str(self.generated), "cache": str(self.cache)}

    @property
    def words(self) -> list[str]:
        """The same as words of a command line."""
        return [f"{name}={value}" for name, value in self.values.items()]

    def _words(self, arguments: tuple[str, ...], variables: dict[str, object]) -> list[str]:
        values = {**self.values, **variables}
        each = [] if arguments and arguments[0] in COMMANDS else ["-v"]  # a run says each unit and file
        return [*each, *arguments, *(f"{name}={value}" for name, value in values.items())]

    def start(self, *arguments: str, **variables: object) -> subprocess.Popen[str]:
        """gradmill with this spec set and these folders. `seed` is the hash seed; the rest are variables."""
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        if "seed" in variables:
            environment["PYTHONHASHSEED"] = str(variables.pop("seed"))
        if self.root != ROOT:
            environment["PYTHONPATH"] = str(self.root / "pipeline")
        command = [sys.executable, "-m", "gradmill", *self._words(arguments, variables)]
        return subprocess.Popen(
            command, cwd=self.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self, *arguments: str, **variables: object) -> Run:
        """The same, and waits for the end; in a copy of a process, where that makes no difference."""
        if "seed" in variables or self.root != ROOT:
            time.sleep(1.2 * TICK / 1e9)  # code that is as new as the process may not be what runs
            return finish(self.start(*arguments, **variables))
        return forked.gradmill(self._words(arguments, variables), ROOT)

    def run_patched(self, *arguments: str, **variables: object) -> Run:
        """The same with what a test has patched."""
        return forked.patched_gradmill(self._words(arguments, variables))

    def doit(self, *arguments: str, **variables: object) -> Run:
        """doit, with the tasks of the clone."""
        values = {**self.values, **variables}
        return forked.doit([*arguments, *(f"{name}={value}" for name, value in values.items())])

    def gradmill(self, *arguments: str, **variables: object) -> Run:
        """`gradmill`, in the folder of the project, as people run it."""
        words = [word for word in self._words(arguments, variables) if word != "-v"]
        return forked.gradmill(words, self.folder)

    def kill_after(self, tasks: int) -> None:
        """Starts a run, and kills it as soon as so many tasks have been reported."""
        process = self.start()
        assert process.stdout is not None
        for _ in range(tasks):
            assert process.stdout.readline(), "the run ended before it was killed"
        process.kill()
        assert finish(process).status == -signal.SIGKILL, "the run ended before it was killed"

    def build(self, **variables: object) -> Project:
        """Runs gradmill, which must succeed."""
        self.run(**variables).ok()
        return self

    def clean_build(self, **variables: object) -> dict[str, bytes]:
        """The generated files of a build of this spec set that knows nothing of earlier ones."""
        return self._clean(variables)[0]

    def clean_manifest(self, **variables: object) -> bytes:
        """The manifest of such a build."""
        return self._clean(variables)[1]

    def _clean(self, variables: dict[str, object]) -> tuple[dict[str, bytes], bytes]:
        """One clean build of each spec set serves all tests."""
        parts = [str(self.root), self.specs.name, repr(sorted(variables.items()))]
        parts += [f"{path.relative_to(self.specs)} {_digest(path)}" for path in sorted(self.specs.rglob("*"))]
        key = "\n".join(parts)
        if self.root != ROOT or key not in _CLEAN:
            shutil.rmtree(self.spare, ignore_errors=True)
            self.run(**{**variables, "generated": self.spare / "generated", "cache": self.spare / "cache"}).ok()
            _CLEAN[key] = files_in(self.spare / "generated"), self.manifest(self.spare / "cache")
            shutil.rmtree(self.spare)
        return _CLEAN[key]

    # ---- what there is

    def files(self) -> dict[str, bytes]:
        """The generated files."""
        return files_in(self.generated)

    def mtimes(self) -> dict[str, int]:
        """When each generated file was written."""
        return {
            path.relative_to(self.generated).as_posix(): path.stat().st_mtime_ns
            for path in sorted(self.generated.rglob("*"))
            if path.is_file() and RECORD not in path.parts
        }

    def tree(self) -> dict[str, tuple[int, int]]:
        """Every file and folder that doit made: inode and time of change. Without what a run with nothing to do
        touches: the lock, and what SQLite has next to the store."""
        paths = [path for folder in (self.cache, self.generated) for path in (folder, *folder.rglob("*"))]
        paths = [p for p in paths if p != self.rows.parent and not p.name.endswith(("lock", "-shm", "-wal"))]
        return {str(p): (p.stat().st_ino, p.stat().st_mtime_ns) for p in paths}

    def manifest(self, cache: Path | None = None) -> bytes:
        """The manifest, for other build systems, with the units of `units.json`."""
        return manifest_in((cache or self.cache) / self.specs.name)

    def units(self) -> list[str]:
        """The names of all units, from the manifest."""
        return [unit["unit"] for unit in json.loads(self.manifest())["units"]]

    def unit_names(self) -> list[str]:
        """The same, from that of a clean build."""
        return [unit["unit"] for unit in json.loads(self.clean_manifest())["units"]]

    def by_torchgen(self, out: Path, *words: str) -> dict[str, bytes]:
        """The files that torchgen makes of the set, by default all of autograd; subprocess.CalledProcessError where it
        refuses it. `words`: other options of the oracle."""
        files = {"native": "native_functions.yaml", "tags": "tags.yaml", "derivatives": "derivatives.yaml"}
        paths = [f"--{name}={self.path(file)}" for name, file in {**files, "templates": "templates"}.items()]
        command = [sys.executable, ROOT / "tests" / "torchgen_oracle.py", *paths, *(words or [f"--out={out}"])]
        subprocess.run(command, check=True)
        return files_in(out)

    @property
    def rows(self) -> Path:
        """The store: what is remembered of all queries."""
        return in_cache(self.cache / self.specs.name, "rows")

    def cached(self) -> list[Path]:
        """All files of the cache."""
        return sorted(path for path in self.cache.rglob("*") if path.is_file())


_CLEAN: dict[str, tuple[dict[str, bytes], bytes]] = {}


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def files_in(folder: Path) -> dict[str, bytes]:
    """The files of a folder, without gradmill's record of them."""
    result = (path for path in sorted(folder.rglob("*")) if path.is_file() and RECORD not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in result}


def replace_once(path: Path, old: str, new: str) -> None:
    """Replaces the one place in a file where `old` stands."""
    text = path.read_text()
    assert text.count(old) == 1, f"{path} has {text.count(old)} of: {old}"
    path.write_text(text.replace(old, new))


def run_program(*words: object, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> str:
    """What a program prints, which must succeed."""
    done = subprocess.run([*map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, words))}\n{done.stdout[-8000:]}{done.stderr[-8000:]}"
    return done.stdout


def finish(process: subprocess.Popen[str]) -> Run:
    """Waits for a run."""
    stdout, stderr = process.communicate()
    return Run(process.returncode, stdout, stderr)


def is_plain(run: Run) -> bool:
    """Whether a refusal is one for people: a few lines, no traceback."""
    return "Traceback" not in run.stderr + run.stdout and 0 < len(run.stderr.splitlines()) < 8


def elsewhere(*words: object, cwd: Path, group: bool = False, root: Path = ROOT) -> subprocess.Popen[str]:
    """A Python with a gradmill, in another folder than that of dodo.py."""
    return subprocess.Popen(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(root) / "pipeline"), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=group,
    )


def sources(files: dict[str, bytes]) -> dict[str, bytes]:
    """Without depfiles, which name the folder."""
    return {name: data for name, data in files.items() if not name.endswith(".d")}


def assert_clean(project: Project, **variables: object) -> None:
    """What is there is what a build makes that knows nothing."""
    assert sources(project.files()) == sources(project.clean_build(**variables))
    assert project.manifest() == project.clean_manifest(**variables)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "lost": Path.unlink,
    "emptied": lambda path: path.write_bytes(b""),
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "turned": lambda path: path.write_bytes(path.read_bytes()[::-1]),
}
