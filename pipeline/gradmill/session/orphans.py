"""Removes files that are no longer part of the output: of another layout or family, and of killed runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Set
from contextlib import suppress

from gradmill.families.table import FAMILIES
from gradmill.io.files import files_in, remove_abandoned
from gradmill.model.regex import regex
from gradmill.problems.plain import warn
from gradmill.session.build import Build
from gradmill.session.output.folder_record import FILES
from gradmill.session.output.ownership import CHANGED, FOREIGN, source_of
from gradmill.session.paths import own_files
from gradmill.session.places import with_depfiles

_SOME = 3  # files that a report names
_SHARD = regex(r"(?:_\d+|_common|_formulas|Everything)+(?=(?:\.\w+)?$)")


def remove_orphans(build: Build) -> None:
    """Removes recorded files that are no longer part of the output, folders that are empty then, and temporary files of
    killed runs. Edited files remain, and are reported."""
    places, record = build.places(), build.outputs.record
    build.inputs.code.check()
    depfiles = (f"{build.path(name)}.d" for name in with_depfiles(build))
    others = (*depfiles, *build.paths.of_manifest, *(path for _, path in build.config.build_files))
    current = {*places.values(), *map(build.outputs.place, others)}
    roots = set(map(os.path.realpath, build.config.families_by_folder))
    old = [path for path in record.paths() if path not in current]
    if build.config.places.tree:
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
    remove_abandoned(build.config.folder, own_files(build.config.folder))


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
        if any(FAMILIES[each].owns(name) and build.config.places.has(each, template) for each in families):
            return True
    return False


def _report_unrecorded(build: Build, others: Set[str]) -> None:
    """Reports files with the head of a generated file, unless they are in `others`: the folder has no intact record,
    and gradmill may have written them. In a tree, which has files of other builds, only those that are made from the
    source of a file in `others`."""
    tree, unknown = build.config.places.tree, []
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
    tree, found = build.config.places.tree, set()
    for root, families in build.config.families_by_folder.items():
        for family in map(FAMILIES.__getitem__, families):
            folder = root if tree else os.path.join(root, family.folder)
            found |= {os.path.realpath(os.path.join(folder, inner)) for inner in ("", *family.folders)}
    return sorted(found)
