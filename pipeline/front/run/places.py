"""The output places of a run: checks them, and writes files there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from pipeline.families.table import TEMPLATES
from pipeline.front.output.claims import check_claims, claim_places
from pipeline.front.output.outputs import Written
from pipeline.front.output.ownership import (
    INPUT,
    OUTPUTS,
    DigestTest,
    HeadTest,
    identities,
    is_manifest,
    is_outputs,
    is_rule_for,
    is_stamp,
    nothing,
    refused,
    source_in,
)
from pipeline.front.run import record
from pipeline.front.run.build import Build
from pipeline.front.run.paths import records_in
from pipeline.io.files import UNSETTLED
from pipeline.problems.problem import SpecError, all_of

if TYPE_CHECKING:
    from pipeline.query.query import Parts


def check_places(build: Build) -> None:
    """Refuses to write over an input, over a file that gradmill did not generate, or without a writable cache.
    SpecError with each refused place."""
    config = build.config
    if build.db.problem and not _is_whole(build):
        raise SpecError(build.db.problem, "nothing was written; name another place: cache=DIR")
    check_claims(config)
    inputs = identities(build.inputs.spec_paths())
    in_folder = build.outputs.record
    elsewhere = config.option("generated", "DIR")
    errors = [refused(*in_folder.problem, elsewhere)] if in_folder is not None and in_folder.problem else []
    targets = list(targets_of(build))
    paths = (*(path for path, *_ in targets), *config.build_files.values())
    places = set(map(build.outputs.place, paths)) - build.outputs.known.keys()
    if any(map(os.path.lexists, places)):  # another configuration may have the same names
        for place, written in left_by_runs(build):
            if place in places:
                build.outputs.known.setdefault(place, written)
    for path, by_head, by_digest in targets:
        if problem := build.outputs.refusal(path, by_head, by_digest, inputs=inputs):
            errors.append(refused(path, problem, elsewhere))
    for path, by_head in of_manifest(build):
        problem = build.outputs.refusal(path, by_head, inputs=inputs)
        if problem and (problem == INPUT or not build.has_cache):
            errors.append(refused(path, problem, "cache=DIR"))
    errors += [
        refused(path, problem, config.option(name, "FILE"))
        for name, path in {"stamp": config.stamp, **config.build_files}.items()
        if path and (problem := refusal_of(build, name))
    ]
    if errors:
        raise all_of(errors)
    claim_places(config)


def _is_whole(build: Build) -> bool:
    """Whether all files have the bytes that a run would write."""
    files = (build.outputs.has_digest(build.path(name), wanted(build, name)) for name in build.file_names())
    return all(files) and manifest_is_there(build)


def refusal_of(build: Build, variable: str) -> str:
    """Why the file that a variable names may not be written, "" if it may."""
    named, place = {"stamp": build.config.stamp, **build.config.build_files}, build.outputs.place
    path = named.pop(variable)
    others = (*map(build.path, build.file_names()), *(each for each, _ in of_manifest(build)), *named.values())
    if place(path) in map(place, filter(None, others)):
        return "this is a generated file"
    tests = {"stamp": is_stamp, "outputs": is_outputs}
    return build.outputs.refusal(path, tests.get(variable) or is_rule_for(_depfile_targets(build)[0]))


def _depfile_targets(build: Build) -> list[str]:
    """The targets of the rule in the file that `depfile=` names: the stamp, else all generated files."""
    return [os.path.abspath(path) for path in [build.config.stamp] if path] or [
        os.path.abspath(build.path(name)) for name in build.file_names()
    ]


def left_by_runs(build: Build, *, own: bool = False) -> Iterator[tuple[str, Written]]:
    """The files that recorded runs wrote, each with its place: those of this set, in any configuration, and those in
    this output folder. `own`: without the latter if another set wrote them."""
    folder, of_this = build.config.folder, build.paths.record
    paths = [os.path.join(folder, name) for name in records_in(folder)]
    for run in filter(None, (build.record if path == of_this else record.load(path) for path in paths)):
        for path, written in run.evidence.outputs.items():
            yield build.outputs.place(path), written
    in_folder = build.outputs.record
    if in_folder is not None and not (own and in_folder.owner not in ("", build.config.specs.name)):
        for path, digests in in_folder.digests().items():
            yield from ((path, Written(UNSETTLED, digest)) for digest in digests)


def records(build: Build, *, own: bool = False) -> dict[str, set[bytes]]:
    """The digests of these files, by place."""
    digests: dict[str, set[bytes]] = {}
    for place, written in left_by_runs(build, own=own):
        digests.setdefault(place, set()).add(written.digest)
    return digests


def wanted(build: Build, name: str) -> bytes:
    """The digest of the bytes that a generated file should have."""
    from pipeline.stages.shard import made

    return made(build.db, *build.layout, name).xxh3


def targets_of(build: Build) -> Iterator[tuple[str, HeadTest, DigestTest]]:
    """The generated files and their depfiles: the path of each, and the tests that recognize a file of gradmill's."""
    for name in build.file_names():
        path = build.path(name)
        yield path, partial(is_made_of, build, name), partial(_is_wanted, build, name)
        if build.config.layout == "split":
            yield f"{path}.d", is_rule_for(path), nothing


def _is_wanted(build: Build, name: str, digest: bytes) -> bool:
    return digest == wanted(build, name)


def of_manifest(build: Build) -> tuple[tuple[str, HeadTest], ...]:
    """The manifest, its depfile and the list of units: the path of each, and the test that recognizes a file of
    gradmill's."""
    path = build.paths.manifest
    return (path, is_manifest), (f"{path}.d", is_rule_for(path)), (build.paths.units, is_manifest)


def is_of(name: str, source: str) -> bool:
    """Whether a file called `name` is generated from `source` in some layout."""
    template = os.path.basename(source)
    if os.path.dirname(name) == "graphs":
        return os.path.dirname(source) == "graphs" or template in TEMPLATES.for_graphs
    return template in TEMPLATES.main


def is_made_of(build: Build, name: str, head: bytes) -> bool:
    """Whether the head of a file names the source of the generated file `name`."""
    from pipeline.stages.shard import files

    source = source_in(head)
    file = files.item(build.db, *build.layout, name)
    if file is None or not (source or file.mark):
        return False
    if file.mark:
        return file.mark.encode() in head
    if os.path.dirname(name) == "graphs":
        return is_of(name, source)
    return os.path.basename(source) == os.path.basename(source_in(file.comment.encode()) or file.template or name)


def new_bytes(build: Build, name: str) -> Parts | None:
    """The contents to write to a generated file; None if the file has them."""
    from pipeline.stages.shard import contents, made

    db, at = build.db, (*build.layout, name)
    data = (
        None if db.is_valid(made, *at) else contents(db, *at)
    )  # used below: the database does not keep so large a value
    if build.outputs.has_digest(build.path(name), wanted(build, name)):
        return None
    data = contents(db, *at) if data is None else data
    build.inputs.code.check()
    return data


def write_files(build: Build) -> list[str]:
    """Writes the generated files whose bytes changed; returns their names. The places have been checked."""
    written = []
    for name in build.file_names():
        data = new_bytes(build, name)
        if data is not None:
            build.outputs.write(build.path(name), data, partial(is_made_of, build, name))
            written.append(name)
    return written


def write_manifest(build: Build) -> bool:
    """Writes the manifest, the list of units and the depfiles; returns whether anything was written."""
    from pipeline.stages.manifest import unit_list

    parts = {} if units_are_there(build) else {build.paths.units: unit_list(build.db)}
    parts |= manifest_parts(build)
    build.inputs.code.check()
    return sum(put(build, path, data) for path, data in parts.items()) > 0


def units_are_there(build: Build) -> bool:
    """Whether the list of units is up to date."""
    from pipeline.stages.manifest import units_digest

    return build.outputs.has_digest(build.paths.units, units_digest(build.db))


def manifest_is_there(build: Build) -> bool:
    """Whether the manifest, the list of units and the depfiles are up to date."""
    parts = manifest_parts(build)
    return units_are_there(build) and all(build.outputs.has_digest(path, data.digest) for path, data in parts.items())


def manifest_parts(build: Build) -> dict[str, Parts]:
    """The contents of the manifest and of the depfiles, by path."""
    from pipeline.stages.manifest import depfile, escaped, manifest

    absolute = os.path.isabs(build.config.generated)
    place = os.path.abspath if absolute else os.path.relpath
    # Only existing files: a target with a missing dependency would never be up to date.
    split = [os.path.split(path) for path in build.inputs.read_paths()]
    folders = {folder: place(folder or os.curdir) for folder in {folder for folder, _ in split}}  # few, of many files
    inputs = [name if folders[at] == os.curdir else os.path.join(folders[at], name) for at, name in split]
    targets = [build.paths.manifest]
    if build.config.layout == "split":
        targets += map(build.path, build.file_names())
    parts = {build.paths.manifest: manifest(build.db, *build.layout)}
    sources = escaped(inputs)
    parts |= {f"{target}.d": depfile([target], sources) for target in targets}
    if build.config.depfile:  # for a build in another folder
        parts[build.config.depfile] = depfile(_depfile_targets(build), escaped(map(os.path.abspath, inputs)))
    if build.config.outputs:
        from pipeline.front.run.cmake import cmake_variables
        from pipeline.query.query import Parts

        parts[build.config.outputs] = Parts([(OUTPUTS + cmake_variables(build)).encode()])
    return parts


def put(build: Build, path: str, data: Parts) -> bool:
    """Writes a file of gradmill's own, if its bytes differ; returns whether it did."""
    from pipeline.io.files import replace_file

    if build.outputs.has_digest(path, data.digest):
        return False
    build.outputs.expect(path, data.digest)
    replace_file(path, *data)
    build.outputs.note(path, data.digest)
    return True
