"""Removes files that are no longer part of the output: of another layout or family, and of killed runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Set

from pipeline.families.table import FAMILIES
from pipeline.front.output.folder_record import FILES
from pipeline.front.output.ownership import CHANGED, FOREIGN, head_of, is_rule_for, source_of
from pipeline.front.run.build import Build
from pipeline.front.run.paths import own_files
from pipeline.front.run.places import is_of, of_manifest, records, targets_of
from pipeline.io.files import files_in, remove_abandoned, remove_empty
from pipeline.model.regex import regex
from pipeline.problems.plain import warn

_SOME = 3  # files that a report names
_SHARD = regex(r"(?:_\d+|_common|_formulas|Everything)+(?=(?:\.\w+)?$)")


def remove_orphans(build: Build) -> None:
    """Removes files of an earlier layout, and temporary files of killed runs. Edited files remain, and are reported."""
    names = build.file_names()
    build.inputs.code.check()
    targets = [path for path, *_ in targets_of(build)] + [path for path, _ in of_manifest(build)]
    current = set(map(build.outputs.place, (*targets, *build.config.build_files.values())))
    folders = set(map(os.path.realpath, _folders(build)))
    earlier = records(build)  # under any names that a description gave these files
    known = [path for path in (*build.outputs.known, *earlier) if os.path.dirname(path) in folders]
    if build.config.places.folders:
        roots = {os.path.realpath(root): families for root, families in build.config.families_by_folder.items()}
        generated = set(map(_unsharded, current))  # a description may give them names that no family knows
        known = [
            path
            for path in known
            if _unsharded(path) in generated or any(_may_be_of(build, path, *each) for each in roots.items())
        ]
    lost = list(_lookalikes(build, current.union(known)))
    kept = build.outputs.remove(
        (path for path in dict.fromkeys(known) if path not in current),
        by_digest=lambda path: lambda digest: digest in earlier.get(path, ()),
    )
    build.outputs.remove(lost, lambda head: True)  # chosen by their heads
    _report(build, kept, earlier)
    outer = set(map(os.path.realpath, build.config.families_by_folder))
    for folder in {os.path.dirname(path) for path in (*known, *lost)} - outer:
        remove_empty(folder)
    called = list(map(os.path.basename, names))
    for folder in folders:
        remove_abandoned(folder, [*called, *(f"{name}.d" for name in called)])
    if build.outputs.record is not None:
        remove_abandoned(os.path.dirname(build.outputs.record.path), FILES)
    remove_abandoned(build.config.folder, own_files(build.config.folder))


def _report(build: Build, kept: Mapping[str, str], earlier: Mapping[str, set[bytes]]) -> None:
    """Reports the files of earlier runs that were `kept`, with the reason, and remembers them for the next run."""
    record = build.outputs.record
    ours = record.digests() if record is not None and record.is_intact else earlier
    build.left = {path: earlier[path] for path in kept if path in ours and path in earlier}
    for path in build.left:
        problem = CHANGED if kept[path] == FOREIGN else kept[path]
        warn(f"{path}: {problem}; it is no longer part of the output, and was not deleted: move or delete it")


def _unsharded(path: str) -> str:
    """The path of a generated file, or of the file of a depfile, without the suffix of a shard."""
    return _SHARD.sub("", path.removesuffix(".d"))


def _lookalikes(build: Build, others: Set[str]) -> Iterator[str]:
    """The places of generated files of any layout, recognized by their names and heads, unless they are in `others`.
    Outside of the default folder only those of the generated families: others may be the work of another generator.
    These are reported if the folder has no record that would name them."""
    record = build.outputs.record
    for root, families in build.config.families_by_folder.items():
        alike = lost = list(_alike(build, root, families, others))
        if alike and not build.config.is_default_folder:
            lost = list(_alike(build, root, _generated_families(build), others))
        unknown = [os.path.basename(path) for path in alike if path not in lost]
        if unknown and record is not None and not record.is_intact:
            some = ", ".join(unknown[:_SOME]) + (", …" if len(unknown) > _SOME else "")
            warn(
                f"{root}: {some}: {len(unknown)} generated files are not part of the output, and no record says whether"
                " gradmill wrote them; they were not deleted"
            )
        yield from lost


def _alike(build: Build, root: str, families: tuple[str, ...], others: Set[str]) -> Iterator[str]:
    """These places below one folder, of some families."""
    for folder in _with_inner(root, families):
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


def _generated_families(build: Build) -> tuple[str, ...]:
    """The families with generated files."""
    from pipeline.stages.shard import files

    generated = (files.item(build.db, *build.layout, name) for name in build.file_names())
    return tuple({file.family: None for file in generated if file is not None})


def _may_be_of(build: Build, path: str, root: str, families: tuple[str, ...]) -> bool:
    """Whether a file, or that of a depfile, may be one of these families with the folder `root`, by its name. In a tree
    a file that was not requested is none: another build may have written it."""
    name, places = os.path.relpath(path.removesuffix(".d"), root), build.config.places
    return any(FAMILIES[each].owns(name) and (not places.folders or places.has(each, name)) for each in families)


def _folders(build: Build) -> list[str]:
    """The folders of generated files."""
    by_folder = build.config.families_by_folder
    return [folder for root, families in by_folder.items() for folder in _with_inner(root, families)]


def _with_inner(root: str, families: Iterable[str]) -> list[str]:
    """A folder, and those within it that have files of these families."""
    return [root, *(os.path.join(root, inner) for name in families for inner in FAMILIES[name].folders)]
