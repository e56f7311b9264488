"""Where a run writes: what may stand there, what is removed from there, what is put there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pipeline.front.run import last as last_run
from pipeline.front.run.build import Build
from pipeline.front.run.claims import claim
from pipeline.front.run.outputs import Written, is_rule_for, remove_abandoned, source_of
from pipeline.problems.problem import SpecError
from pipeline.specs.spec_set import FOR_GRAPHS, TEMPLATES

if TYPE_CHECKING:
    from pipeline.query.query import Parts

_SHARED = "generated"  # the folder in which every set has its own, unless it is told another
_OWNERS = ".owners"  # a note in it, which those see too who have another cache


def check_places(build: Build) -> None:
    """Refuses to write over an input, over a file that gradmill did not make, or where nothing can be remembered."""
    config = build.config
    if build.db.problem:
        raise SpecError(build.db.problem, "nothing was written; name another place: cache=DIR")
    inputs = {os.path.realpath(path) for path in build.inputs.spec_paths()}
    targets = [build.path(name) for name in build.file_names()]
    for path in (*targets, *([config.stamp] if config.stamp else []), build.manifest_path):
        if os.path.realpath(path) in inputs:
            raise SpecError(f"{path}: this is an input", "name another place for the output")
    claim_places(build)
    for path in targets:
        build.outputs.check(path)
        if config.layout == "split":
            build.outputs.check(f"{path}.d", of=path)


def claim_places(build: Build) -> None:
    """Notes which set the folders in the cache and of the output belong to; refuses those of another one."""
    config = build.config
    own = config.specs.owner
    claim(os.path.join(config.folder, "set"), {"": own}, "cache=DIR")
    generated = os.path.abspath(config.generated)
    beside = os.path.join(os.path.dirname(generated), _OWNERS)
    if generated == os.path.abspath(os.path.join(_SHARED, config.specs.name)) or os.path.exists(beside):
        claim(beside, {generated: own}, "generated=DIR")
    claim(os.path.join(config.cache, "outputs"), {generated: own}, "generated=DIR")


def remove_orphans(build: Build) -> None:
    """Removes files of an earlier layout, and what killed runs left half-written."""
    names = build.file_names()
    build.inputs.check_code()
    made = [*map(build.path, names)]
    made += [f"{path}.d" for path in made] if build.config.layout == "split" else []
    made += [build.manifest_path, f"{build.manifest_path}.d"]  # which may be put among them
    current = {os.path.abspath(path) for path in made}
    inputs = {os.path.realpath(path) for path in build.inputs.spec_paths()}
    folders = {os.path.abspath(folder) for folder in _folders(build)}
    left = [(path, written) for path, written in _left(build) if os.path.dirname(path) in folders]
    for path, written in left:  # whatever a description calls it
        if path not in current:
            build.outputs.known.setdefault(path, written)
    known = [path for path in build.outputs.known if os.path.dirname(path) in folders]
    lost = [path for path in map(os.path.abspath, _lookalikes(build)) if path not in build.outputs]
    old = (path for path in (*known, *lost) if path not in current and os.path.realpath(path) not in inputs)
    digests = {(path, written.digest) for path, written in left}
    build.outputs.remove(old, lambda path, found: (path, found) in digests)
    called = list(map(os.path.basename, names))
    for folder in folders:
        remove_abandoned(folder, [*called, *(f"{name}.d" for name in called)])
    own = (build.store_path, f"{build.store_path}.values", build.manifest_path, build.notes_path)
    remove_abandoned(build.config.folder, map(os.path.basename, own))


def _left(build: Build) -> Iterator[tuple[str, Written]]:
    """The files that runs in all configurations of this set left, with their digests."""
    for name in os.listdir(build.config.folder):
        last = last_run.load(os.path.join(build.config.folder, name)) if name.startswith("last-") else None
        yield from last.outputs.items() if last is not None else ()


def _lookalikes(build: Build) -> Iterator[str]:
    """Generated files of any layout, by their names and what they say."""
    from pipeline.families.table import FAMILIES

    for folder in _folders(build):
        try:
            found = sorted(os.listdir(folder))
        except OSError:
            continue
        for path in (os.path.join(folder, name) for name in found):
            source = path.removesuffix(".d")
            name = os.path.relpath(source, build.config.generated)
            if any(family.owns(name) for family in FAMILIES.values()) and (
                is_rule_for(path, source) if path != source else _is_made_of(name, source_of(path))
            ):
                yield path


def _is_made_of(name: str, source: str) -> bool:
    """Whether what a file is generated from, as it says, is what one of this name is made of in some layout."""
    template = os.path.basename(source)
    if os.path.dirname(name) == "graphs":
        return os.path.dirname(source) == "graphs" or template in FOR_GRAPHS
    return template in TEMPLATES


def _folders(build: Build) -> list[str]:
    """The folders that generated files are in."""
    return [build.config.generated, build.path("templates"), build.path("graphs")]


def new_bytes(build: Build, name: str) -> Parts | None:
    """What is to be written to a generated file; None where it has the bytes that it should have."""
    from pipeline.stages.shard import contents, made

    db, at = build.db, (*build.layout, name)
    data = None if db.holds(made, *at) else contents(db, *at)  # kept here: it is too large to stay in memory
    if build.outputs.holds(build.path(name), made(db, *at).xxh3):
        return None
    data = contents(db, *at) if data is None else data
    build.inputs.check_code()
    return data


def write_files(build: Build) -> list[str]:
    """Writes the generated files whose bytes changed; gives their names. The places have been checked."""
    written = []
    for name in build.file_names():
        data = new_bytes(build, name)
        if data is not None:
            build.outputs.write(build.path(name), data)
            written.append(name)
    return written


def write_manifest(build: Build) -> bool:
    """Writes the manifest and the depfiles; says whether anything was written."""
    found = _told(build)
    build.inputs.check_code()
    return sum(put(build, path, data) for path, data in found.items()) > 0


def manifest_is_there(build: Build) -> bool:
    """Whether the manifest and the depfiles say what there is."""
    return all(build.outputs.holds(path, data.digest) for path, data in _told(build).items())


def _told(build: Build) -> dict[str, Parts]:
    """What others are told of the generated files: the manifest and the depfiles, by their paths."""
    from pipeline.stages.manifest import depfiles, manifest

    absolute = os.path.isabs(build.config.generated)
    place = os.path.abspath if absolute else os.path.relpath
    read, stats = (*build.inputs.spec_paths(), *build.inputs.code_paths()), build.inputs.stats
    there = [os.path.split(path) for path in read if stats.get(path)]  # what is missing would never be up to date
    folders = {folder: place(folder or os.curdir) for folder in {folder for folder, _ in there}}  # few, of many files
    inputs = [name if folders[at] == os.curdir else os.path.join(folders[at], name) for at, name in there]
    targets = [build.manifest_path]
    if build.config.layout == "split":
        targets += map(build.path, build.file_names())
    found = {build.manifest_path: manifest(build.db, *build.layout)}
    return found | {f"{target}.d": rule for target, rule in depfiles(targets, dict.fromkeys(inputs)).items()}


def put(build: Build, path: str, data: Parts) -> bool:
    """Writes a file of gradmill's own, if its bytes differ; says whether it did."""
    from pipeline.query.files import replace_file

    found = data.digest
    if build.outputs.holds(path, found):
        return False
    replace_file(path, *data)
    build.outputs.note(path, found)
    return True
