"""What must hold in any setting. Each invariant gives a line for each thing that is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import xxhash
from forked import Run, tasks_in
from project import sources

from pairs.sets import NEWER, SETS
from pairs.settings import KERNELS, SETTINGS, Case
from pairs.work import MISTYPED, Programs, Tree, Work

Files = dict[str, bytes]
EMPTY = ("lock", "-shm", "-wal")  # of who reads the store, and of the file system's clock: nothing is in them


class Made(NamedTuple):
    """What a build of the same inputs made that knows nothing of the case's cache."""

    files: Files
    manifest: Any


@dataclass
class Outcome:
    """A case that has been run twice."""

    work: Work
    references: References
    prepared: str  # what failed before the first run
    before: Files  # the generated files that were there before it
    earlier: Tree  # and all files
    first: Run
    files: Files
    tree: Tree  # after the first run
    second: Run
    again: Tree  # and after the second
    checked: str  # what `check` reports then
    manifest: Any

    @cached_property
    def clean(self) -> Made:
        """A clean build of the same inputs, with the same layout, families, shards and lines."""
        return self.references.clean(self.case)

    @cached_property
    def plain(self) -> Made:
        """A clean build of all families in upstream's layout."""
        return self.references.plain(self.case)

    @property
    def case(self) -> Case:
        return self.work.case

    @property
    def stops(self) -> bool:
        """Whether the run must end with an error."""
        case = self.case
        return case["text"] == "an error" or (case["text"] == "a warning" and case["strict"] == "1")

    @property
    def families(self) -> set[str]:
        """The families that are made."""
        form, graphs = self.work.form, {"graphs"} if self.case["graphs"] else set()
        asked = {*self.case["families"].split(",")} - {""}
        without = KERNELS if self.case["autograd"] == "0" else set()
        return (asked or {*(form.by_default or form.families)}) - without | graphs


# ---- running


class References:
    """Builds to compare with: each is made once, for all cases that it serves."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._made = lru_cache(maxsize=None)(self._build)

    def clean(self, case: Case) -> Made:
        """A clean build in another cache, by the usual command."""
        same = ["set", "release", "layout", "families", "operators", "autograd", "graphs", "lines"]
        same += ["text"] if case["text"] != "an error" else []
        same += ["shards"] if case["layout"] == "split" else []
        same += ["place", "generated", "tree", "install"] if case["lines"] == "1" else []  # as which files are named
        return self._made(_key(_usual(case, same)))

    def plain(self, case: Case) -> Made:
        """A clean build of all families, in upstream's layout."""
        form = SETS[case["set"]]
        families = ",".join(form.families) if form.by_default else ""
        same = ["set", "release", "operators", "graphs", *(["text"] if case["text"] != "an error" else [])]
        return self._made(_key({**_usual(case, same), "families": families}))

    def _build(self, key: tuple[tuple[str, str], ...]) -> Made:
        with TemporaryDirectory() as name:
            work = Work(dict(key), Path(name).resolve() / "case", self._programs)
            work.prepare()
            work.run().ok()
            named = {path: data.replace(str(work.folder).encode(), b"@") for path, data in work.files().items()}
            return Made(named, work.manifest())


def _usual(case: Case, same: Iterable[str]) -> Case:
    """A case with the usual values of all other settings."""
    return {name: case[name] if name in same else values.quick[0] for name, values in SETTINGS.items()}


def _key(case: Case) -> tuple[tuple[str, str], ...]:
    return tuple(case.items())


def outcome(case: Case, folder: Path, programs: Programs, references: References) -> Outcome:
    """Runs a case twice."""
    work = Work(case, folder, programs)
    prepared, before, earlier = work.prepare(), work.files(), work.tree()
    first, files, tree = work.run(), work.files(), work.tree()
    second, again = work.run(), work.tree()
    manifest = work.manifest()
    return Outcome(
        work, references, prepared, before, earlier, first, files, tree, second, again, work.check(), manifest
    )


def wrong(result: Outcome) -> list[str]:
    """All that does not hold."""
    if result.prepared:
        return [result.prepared]
    if result.first.status != (1 if result.stops else 0):
        return [f"status: {result.first.status}, {result.first.stdout[-1000:]}{result.first.stderr[-3000:]}"]
    invariants = STOPPED if result.stops else FINISHED
    return [f"{each.__name__}: {line}" for each in invariants for line in each(result)]


# ---- what holds of every run


def no_traceback(result: Outcome) -> Iterator[str]:
    for run in (result.first, result.second):
        if "Traceback" in run.stdout + run.stderr:
            yield (run.stdout + run.stderr)[-2000:]


def problems_are_the_same(result: Outcome) -> Iterator[str]:
    """Both runs report what `check` does, whatever the format, the program and the layout."""
    for which, run in (("first", result.first), ("second", result.second)):
        if run.stderr != result.checked:
            yield f"{which} run: {run.stderr[:500]!r}, check: {result.checked[:500]!r}"
    for word, is_there in (
        (MISTYPED[result.case["text"]], True),
        (NEWER, result.case["release is in"] == "newer"),
    ):
        if (word in result.checked) != is_there:
            yield f"check reports {result.checked[:500]!r}"


def second_run_does_nothing(result: Outcome) -> Iterator[str]:
    if result.second.status != result.first.status:
        yield f"status {result.second.status}: {result.second.stderr[-500:]}"
    for name in sorted(result.tree.keys() | result.again.keys()):
        path = result.work.folder / name
        if path.name.startswith("doit-"):  # doit notes its groups in each run
            continue
        if _is_below(path, result.work.cache) and (result.stops or path.is_dir() or path.name.endswith(EMPTY)):
            continue  # after an error what was found is kept once more
        if result.tree.get(name) != result.again.get(name):
            yield f"{name}: {result.tree.get(name)} -> {result.again.get(name)}"
    if not result.stops and (ran := tasks_in(result.second.stdout)):
        yield f"ran {ran}"


def equal_files_are_not_written(result: Outcome) -> Iterator[str]:
    """A file whose bytes the run before made is the same file still."""
    for name, data in result.files.items():
        path = str((result.work.root / name).relative_to(result.work.folder))
        if result.before.get(name) == data and result.earlier[path] != result.tree[path]:
            yield name


def _is_below(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


# ---- what holds where a run finished


def bytes_are_those_of_a_clean_build(result: Outcome) -> Iterator[str]:
    named = {name: data.replace(str(result.work.folder).encode(), b"@") for name, data in result.files.items()}
    yield from _different(sources(named), sources(result.clean.files))


def _different(one: Files, other: Files) -> Iterator[str]:
    for name in sorted(one.keys() | other.keys()):
        if one.get(name) != other.get(name):
            yield f"{name}: {'missing' if name not in one else 'added' if name not in other else 'differs'}"


def manifest_is_right(result: Outcome) -> Iterator[str]:
    """It lists the files that there are, with the digests that they have, and all inputs."""
    manifest, files = result.manifest, result.files
    if manifest is None:
        yield "missing"
        return
    listed = {each["path"]: each for each in manifest["files"]}
    depfiles = {f"{name}.d" for name in listed} if result.case["layout"] == "split" else set()
    for name in sorted((listed.keys() | depfiles) ^ files.keys()):
        yield f"{name}: {'not listed' if name in files else 'not there'}"
    for name in listed.keys() & files.keys():
        data, each = files[name], listed[name]
        printed = (each["size"], each["sha256"], each["xxh3"])
        if printed != (len(data), sha256(data).hexdigest(), xxhash.xxh3_128_hexdigest(data)):
            yield f"{name}: the digests are others"
    known = {each["name"] for each in manifest["inputs"]}
    for name, each in listed.items():
        if not {*each["inputs"]} <= known:
            yield f"{name}: inputs that are not listed: {sorted({*each['inputs']} - known)}"
    other = {**result.clean.manifest, "specs": manifest["specs"]}
    if {k: v for k, v in manifest.items() if k != "files"} != {k: v for k, v in other.items() if k != "files"}:
        differing = [name for name in manifest if manifest[name] != other[name] and name != "files"]
        yield f"a clean build's is another one: {differing}"


def depfiles_name_what_there_is(result: Outcome) -> Iterator[str]:
    paths = [result.work.cache / result.work.name / "manifest.json.d"]
    paths += [result.work.root / name for name in result.files if name.endswith(".d")]
    for path in paths:
        words = re.split(r"(?<!\\)[ \n]+", path.read_text().replace("\\\n", " "))
        for word in (re.sub(r"\\(.)", r"\1", word).removesuffix(":") for word in words if word):
            if not (result.work.cwd / word).exists():
                yield f"{path.name}: {word}"


def units_are_complete(result: Outcome) -> Iterator[str]:
    """All units of the families that are made, each once, and no others."""
    manifest, plain = result.manifest, result.plain.manifest
    wanted = {_unit(each) for each in plain["units"] if each["family"] in result.families}
    units = [_unit(each) for each in manifest["units"]]
    if {*units} != wanted or len(units) != len(wanted):
        yield f"missing {sorted(wanted - {*units})[:5]}, added {sorted({*units} - wanted)[:5]}"
    named = {each[1] for each in units}
    for each in manifest["files"]:
        if unlisted := {*each["units"]} - named:
            yield f"{each['path']}: units that are not listed: {sorted(unlisted)[:5]}"


def _unit(each: Any) -> tuple[str, str, str]:
    return each["family"], each["unit"], each["schema"]


def files_do_not_depend_on_other_families(result: Outcome) -> Iterator[str]:
    """In upstream's layout, each file is the one of a build of all families: what it includes is there, too."""
    if result.case["layout"] == "upstream":
        all_files = {name: data for name, data in sources(result.plain.files).items() if name in result.files}
        yield from _different(sources(result.files), all_files)


def forms_of_a_set_give_the_same(result: Outcome) -> Iterator[str]:
    """But for the comment that says where the template is."""
    same = SETS[result.case["set"]].same
    first = next((name for name, each in SETS.items() if same and each.same == same), result.case["set"])
    usual = result.references.plain({**result.case, "set": first})
    yield from _different(_bare(result.plain.files), _bare(usual.files))


def _bare(files: Files) -> Files:
    return {name: re.sub(rb"@generated from .*", b"", data) for name, data in sources(files).items()}


def stamp_is_written(result: Outcome) -> Iterator[str]:
    path = result.work.stamp
    if path is not None and not path.exists():
        yield "missing"


# ---- what holds where it ended with an error


def nothing_is_written(result: Outcome) -> Iterator[str]:
    yield from _different(result.files, result.before)


ALWAYS = (no_traceback, problems_are_the_same, second_run_does_nothing)
FINISHED: tuple[Callable[[Outcome], Iterator[str]], ...] = (
    *ALWAYS,
    equal_files_are_not_written,
    bytes_are_those_of_a_clean_build,
    manifest_is_right,
    depfiles_name_what_there_is,
    units_are_complete,
    files_do_not_depend_on_other_families,
    forms_of_a_set_give_the_same,
    stamp_is_written,
)
STOPPED: tuple[Callable[[Outcome], Iterator[str]], ...] = (*ALWAYS, nothing_is_written)
