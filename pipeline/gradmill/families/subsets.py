"""Which files of the families are generated, and in which folders: all in one, or as a build of PyTorch has them."""

from __future__ import annotations

from collections.abc import Iterable

from gradmill.doors import FamilyRow, TreeFolders
from gradmill.families.rows import FAMILY_ROWS, IN_ATEN, OF_ATEN, SHIMS
from gradmill.model.requested_files import RequestedFiles

ALL = "all"  # in `families=`: every family that the spec set has templates for
SUBSETS = tuple(dict.fromkeys(subset for row in FAMILY_ROWS.values() for subset in row.subsets))
MATCHING = ("libtorch",)  # the subsets for which upstream matches functions with their derivatives,
LOADING = ("libtorch", "pybindings")  # and those for which it loads the derivatives
TREES = TreeFolders.__struct_fields__


def requested_files(requested: Iterable[str], tree: str, shims: str = "") -> RequestedFiles:
    """The requested files. `requested`: names of families and subsets; if empty, the families by default are meant.
    `tree`: one of TREES, "" for one folder; `shims`: the folder in place of SHIMS."""
    requested = tuple(requested)
    only: dict[str, tuple[str, ...]] = {}
    folders: dict[str, str] = {}
    for name, row in FAMILY_ROWS.items():
        prefixes = prefixes_of(row, requested)
        named = name in requested or (not requested and row.by_default)
        if prefixes and not named and "" not in prefixes:
            only[name] = prefixes
        if tree and row.subsets and (prefixes or named):
            folder = getattr(OF_ATEN if row.folder == IN_ATEN else row.in_trees, tree)
            folders[name] = shims if shims and folder == SHIMS else folder
        elif row.folder and (prefixes or named):
            folders[name] = row.folder
    return RequestedFiles(only, folders, tree=bool(tree))


def prefixes_of(row: FamilyRow, subsets: Iterable[str]) -> tuple[str, ...]:
    """The prefixes of the names of a family's files that are in some of these subsets; none if no file is."""
    found = [row.subsets[subset] for subset in subsets if subset in row.subsets]
    return tuple(each for prefixes in found for each in ((prefixes,) if isinstance(prefixes, str) else prefixes))


def prints_any(families: Iterable[str], files: RequestedFiles, subsets: Iterable[str]) -> bool:
    """Whether some requested file is of one of these subsets, or made from an extension's files. `families`: by name;
    if empty, those by default are meant."""
    requested = [*families] or [name for name, row in FAMILY_ROWS.items() if row.by_default]
    rows = {name: FAMILY_ROWS[name] for name in requested}
    return any(
        bool(row.source) or any(files.has(name, prefix) for prefix in prefixes_of(row, subsets))
        for name, row in rows.items()
    )
