"""Removes files that are no longer part of the output: of another layout or family, and of killed runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Set

from pipeline.families.table import FAMILIES
from pipeline.front.output.folder_record import FILES
from pipeline.front.output.ownership import CHANGED, FOREIGN, head_of, is_rule_for, source_of
from pipeline.front.run.build import Build
from pipeline.front.run.paths import own_files
from pipeline.front.run.places import is_of, of_manifest, with_depfiles
from pipeline.io.files import files_in, remove_abandoned, remove_empty, stat_of
from pipeline.model.regex import regex
from pipeline.problems.plain import warn

_SOME = 3  # files that a report names
_SHARD = regex(r"(?:_\d+|_common|_formulas|Everything)+(?=(?:\.\w+)?$)")


def remove_orphans(build: Build) -> None:
    """Removes files of an earlier layout, and temporary files of killed runs. Edited files remain, and are reported."""
    names = build.written_files()
    build.inputs.code.check()
    depfiles = (f"{build.path(name)}.d" for name in with_depfiles(build))
    others = (*depfiles, *of_manifest(build), *(path for _, path in build.config.build_files))
    current = {*build.places().values(), *map(build.outputs.place, others)}
    if not _is_as_left(build, current):  # a run adds to the record before it begins the first file
        by_folder = build.config.families_by_folder.items()
        folders = {os.path.realpath(each) for root, own in by_folder for each in _with_inner(build, root, own)}
        _remove_old_files(build, current, folders)
        for folder in folders:
            remove_abandoned(folder, (os.path.basename(each) for name in names for each in (name, f"{name}.d")))
    remove_abandoned(os.path.dirname(build.outputs.record.path), FILES)
    remove_abandoned(build.config.folder, own_files(build.config.folder))


def _remove_old_files(build: Build, current: Set[str], folders: Set[str]) -> None:
    """Removes recorded files in some folders that are no longer among the places `current`, and their empty folders."""
    earlier = build.outputs.record.digests()  # under any names that a description gave these files
    old = [path for path in earlier if path not in current and _is_within(path, folders)]
    if build.config.places.tree:
        roots = {os.path.realpath(root): families for root, families in build.config.families_by_folder.items()}
        generated = set(map(_unsharded, current))  # a description may give them names that no family knows
        old = [
            path
            for path in old
            if _unsharded(path) in generated or any(_may_be_of(build, path, *each) for each in roots.items())
        ]
    remove_old(build, old)
    _report_unrecorded(build, {*current, *earlier})
    outer = set(map(os.path.realpath, build.config.families_by_folder))
    inner = {*folders, *map(os.path.dirname, old)} - outer
    for folder in sorted(inner, reverse=True) if old else ():  # inner ones first
        remove_empty(folder)


def _is_within(path: str, folders: Set[str]) -> bool:
    """Whether a file is in one of some folders, or in a folder of it: an operator `a/b` has the header `ops/a/b.h`."""
    while (folder := os.path.dirname(path)) != path:
        if folder in folders:
            return True
        path = folder
    return False


def _is_as_left(build: Build, current: Set[str]) -> bool:
    """Whether the last run of this configuration was complete, left no other files than `current`, and no run has
    changed the record of the folder since."""
    last, path = build.record, build.outputs.record.path
    if last is None or not last.made.complete or not last.evidence.outputs.keys() <= current:
        return False
    noted = last.evidence.stats.get(path)
    build.outputs.record.is_as_left = noted is not None and stat_of(path) == noted
    return build.outputs.record.is_as_left


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


def _report_unrecorded(build: Build, others: Set[str]) -> None:
    """Reports generated files of any layout, recognized by their names and heads, unless they are in `others`: if the
    folder has no intact record, gradmill may have written them."""
    if build.outputs.record.is_intact:
        return
    for root, families in build.config.families_by_folder.items():
        unknown = list(map(os.path.basename, _alike(build, root, families, others)))
        if unknown:
            some = ", ".join(unknown[:_SOME]) + (", …" if len(unknown) > _SOME else "")
            warn(
                f"{root}: {some}: {len(unknown)} generated files are not part of the output, and no record says whether"
                " gradmill wrote them; they were not deleted"
            )


def _alike(build: Build, root: str, families: tuple[str, ...], others: Set[str]) -> Iterator[str]:
    """These places below one folder, of some families."""
    for folder in _with_inner(build, root, families):
        for path in files_in(folder):
            place = build.outputs.place(path)
            if place in others:
                continue
            source = path.removesuffix(".d")
            name = os.path.relpath(source, root)
            if _may_be_of(build, path, root, families) and (
                is_rule_for(source)(head_of(path)) if path != source else is_of(name, source_of(path))
            ):
                yield place


def _may_be_of(build: Build, path: str, root: str, families: tuple[str, ...]) -> bool:
    """Whether a file, or that of a depfile, may be one of these families with the folder `root`, by its name. In a tree
    a file that was not requested is none: another build may have written it."""
    name, places = os.path.relpath(path.removesuffix(".d"), root), build.config.places
    if places.tree:
        made_of = os.path.basename(source_of(path) or name)  # a template tells the subset
        return any(FAMILIES[each].owns(name) and places.has(each, made_of) for each in families)
    return any(name.startswith(_prefix(each)) and FAMILIES[each].owns(name[len(_prefix(each)) :]) for each in families)


def _prefix(family: str) -> str:
    """What begins the names of a family's files, if all families are in one folder."""
    return os.path.join(FAMILIES[family].folder, "") if FAMILIES[family].folder else ""


def _with_inner(build: Build, root: str, families: Iterable[str]) -> list[str]:
    """A folder, and those within it that have files of these families."""
    own = [(FAMILIES[name], "" if build.config.places.tree else FAMILIES[name].folder) for name in families]
    inner = [os.path.join(root, folder, each) for family, folder in own for each in ("", *family.folders)]
    return list(dict.fromkeys(map(os.path.normpath, (root, *inner))))
