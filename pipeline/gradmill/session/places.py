"""The output places of a run that are not as the last one left them: whether files may be written there; files that
are no longer part of the output, of another layout or family, and of killed runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Set
from contextlib import suppress
from functools import partial

from gradmill.families.rows import FAMILY_ROWS
from gradmill.families.table import FAMILIES
from gradmill.io.files import files_in, remove_abandoned
from gradmill.model.regex import regex
from gradmill.problems.plain import warn
from gradmill.problems.problem import SpecError, all_of
from gradmill.session.build import Build
from gradmill.session.output.folder_record import FILES
from gradmill.session.output.outputs import (
    CHANGED,
    FOREIGN,
    INPUT,
    OF_VARIABLES,
    identities,
    is_rule_for,
    refused,
    source_in,
    source_of,
)
from gradmill.session.paths import check_owners, claim_cache

_SOME = 3  # files that a report names
_SHARD = regex(r"(?:_\d+|_common|_formulas|Everything)+(?=(?:\.\w+)?$)")
_START = 1024  # bytes of a template by which a file is known that names none


def check_places(build: Build) -> None:
    """Refuses to write over an input, or over a file that gradmill did not generate. SpecError with each refused
    place."""
    config = build.config
    check_owners(config)
    inputs = identities(build.inputs.spec_paths())
    in_folder = build.outputs.record.problem
    elsewhere = config.option("generated", "DIR")
    errors = [refused(*in_folder, elsewhere)] if in_folder else []
    unchanged, places = build.outputs.unchanged_since_last_run(inputs), build.places()
    others = [(name, "") for name, place in places.items() if place not in unchanged]
    others += [(name, ".d") for name in build.with_depfiles() if f"{places[name]}.d" not in unchanged]
    for name, end in others:
        path = build.path(name)
        by_head = is_rule_for(path) if end else partial(is_made_of, build, build.written_files()[name].entry)
        problem = build.outputs.refusal(path := path + end, by_head, inputs=inputs)
        is_whole = problem == FOREIGN and not end and build.outputs.has_digest(path, build.wanted_digest(name))
        if problem and not is_whole:  # else nothing is written: some files have nothing in their heads
            errors.append(refused(path, problem, elsewhere))
    errors += [refused(path, INPUT, "cache=DIR") for path in build.paths.of_manifest if identities([path]) & inputs]
    errors += _refused_files(build)
    if errors:
        raise all_of(errors)
    claim_cache(config)


def check_build_files(build: Build) -> None:
    """The same of the files for other build systems alone."""
    if errors := _refused_files(build):
        raise all_of(errors)


def _refused_files(build: Build) -> list[SpecError]:
    named, place, errors = build.config.build_files, build.outputs.place, []
    generated = {*map(place, map(build.path, build.written_files())), *map(place, build.paths.of_manifest)}
    earlier = build.outputs.record.paths()  # the first target may be one that is no longer part of the output
    for number, (name, path) in enumerate(named):
        others = (place(other) for at, (_, other) in enumerate(named) if at != number)
        problem = "this is a generated file" if place(path) in {*generated, *others} else ""
        by_head = OF_VARIABLES.get(name) or is_rule_for(*build.depfile_targets(), *earlier)
        if problem := problem or build.outputs.refusal(path, by_head):
            errors.append(refused(path, problem, build.config.option(name, "FILE")))
    return errors


def is_made_of(build: Build, name: str, head: bytes) -> bool:
    """Whether the head of a file names the source of the generated file `name`, or any file may be overwritten."""
    if build.config.overwrites:
        return True
    from gradmill.stages.arrangement import files

    source = source_in(head)
    file = files.item(build.db, *build.layout, name)
    if file is None:
        return False
    if not (source or file.head):  # some of ATen's templates name no generator
        start = _start_of(build, file.template)
        return bool(start.strip()) and head.startswith(start[:_START])
    if file.head:
        return file.head.encode() in head
    wanted = source_in(file.comment.encode()) or file.template or name
    extension = FAMILY_ROWS[file.family].source  # whose files may have other endings than before
    is_added = bool(extension) and os.path.dirname(name) == os.path.dirname(source) == extension
    return is_added or os.path.basename(source) == os.path.basename(wanted)  # ATen's comments name no folder


def _start_of(build: Build, template: str) -> bytes:
    """The text of a template before its first hole."""
    from gradmill.stages.set import template_label

    text = build.db.input(template_label(template)) if template else None
    return (text or b"").partition(b"${")[0]


# ---- files that are no longer part of the output


def remove_orphans(build: Build) -> None:
    """Removes recorded files that are no longer part of the output, folders that are empty then, and temporary files of
    killed runs. Edited files remain, and are reported."""
    places, record = build.places(), build.outputs.record
    build.inputs.code.check()
    depfiles = (f"{build.path(name)}.d" for name in build.with_depfiles())
    others = (*depfiles, *build.paths.of_manifest, *(path for _, path in build.config.build_files))
    current = {*places.values(), *map(build.outputs.place, others)}
    roots = set(map(os.path.realpath, build.config.families_by_folder))
    old = [path for path in record.paths() if path not in current]
    if build.config.requested.tree:
        own = set(map(_unsharded, current))  # a description may give files names that no family knows
        old = [path for path in old if _unsharded(path) in own or _is_requested(build, path)]
    remove_old(build, old)
    if not record.is_intact:
        _report_unrecorded(build, {*current, *old, *map(os.path.realpath, build.inputs.spec_paths())})
    if not record.is_complete:  # a run adds to the record before it begins the first file
        names = [os.path.basename(path) for path in (*current, *old)]
        for folder in {os.path.dirname(path) for path in (*places.values(), *old)}:
            remove_abandoned(folder, names)
    for path in old:
        folder = os.path.dirname(path)
        with suppress(OSError):  # of one that is not empty
            while folder not in roots:
                os.rmdir(folder)
                folder = os.path.dirname(folder)
    remove_abandoned(os.path.dirname(record.path), FILES)


def remove_old(build: Build, paths: Iterable[str]) -> int:
    """Removes files of earlier runs. Reports those that were kept, with the reason; returns their number."""
    kept = build.outputs.remove(paths)
    for path, problem in kept.items():
        why = CHANGED if problem == FOREIGN else problem
        warn(f"{path}: {why}; it is no longer part of the output, and was not deleted: move or delete it")
    return len(kept)


def _unsharded(path: str) -> str:
    """The path of a generated file, or of the file of a depfile, without the suffix of a shard."""
    return _SHARD.sub("", path.removesuffix(".d"))


def _is_requested(build: Build, path: str) -> bool:
    """Whether a recorded file of a tree, or that of a depfile, is of a requested family and subset, by its name and
    template. If not, another build may have written it."""
    for root, families in build.config.families_by_folder.items():
        name = os.path.relpath(path.removesuffix(".d"), os.path.realpath(root))
        template = os.path.basename(source_of(path) or name)
        if any(FAMILIES[each].owns(name) and build.config.requested.has(each, template) for each in families):
            return True
    return False


def _report_unrecorded(build: Build, others: Set[str]) -> None:
    """Reports files with the head of a generated file, unless they are in `others`: the folder has no intact record,
    and gradmill may have written them. In a tree, which has files of other builds, only those that are made from the
    source of a file in `others`."""
    tree, unknown = build.config.requested.tree, []
    own = {source_of(path) for path in others} if tree else None
    for folder in _folders(build):
        for path in files_in(folder):
            source = "" if path in others else source_of(path)
            if source and (own is None or source in own):
                unknown.append(os.path.basename(path))
    if unknown:
        some = ", ".join(unknown[:_SOME]) + (", …" if len(unknown) > _SOME else "")
        warn(
            f"{build.config.generated}: {some}: {len(unknown)} generated files are not part of the output, and no"
            " record says whether gradmill wrote them; they were not deleted"
        )


def _folders(build: Build) -> list[str]:
    """The folders that may have files of some layout, family or release."""
    tree, found = build.config.requested.tree, set()
    for root, families in build.config.families_by_folder.items():
        for name in families:
            folder = root if tree else os.path.join(root, FAMILY_ROWS[name].folder)
            found |= {os.path.realpath(os.path.join(folder, inner)) for inner in ("", *FAMILIES[name].folders)}
    return sorted(found)
