"""Which files of the families are generated, and in which folders: all in one, or as a build of PyTorch has them."""

from __future__ import annotations

from collections.abc import Iterable

from gradmill.families.family import IN_ATEN, OF_ATEN, SHIMS, Family, TreeFolders
from gradmill.families.table import FAMILIES
from gradmill.model.requested_files import RequestedFiles

ALL = "all"  # in `families=`: every family that the spec set has templates for
SUBSETS = tuple(dict.fromkeys(subset for family in FAMILIES.values() for subset in family.subsets))
MATCHING = ("libtorch",)  # the subsets for which upstream matches functions with their derivatives,
LOADING = ("libtorch", "pybindings")  # and those for which it loads the derivatives
TREES = TreeFolders.__struct_fields__


def requested_files(requested: Iterable[str], tree: str, shims: str = "") -> RequestedFiles:
    """The requested files. `requested`: names of families and subsets; if empty, the families by default are meant.
    `tree`: one of TREES, "" for one folder; `shims`: the folder in place of SHIMS."""
    requested = tuple(requested)
    only: dict[str, tuple[str, ...]] = {}
    folders: dict[str, str] = {}
    for name, family in FAMILIES.items():
        prefixes = prefixes_of(family, requested)
        named = name in requested or (not requested and family.by_default)
        if prefixes and not named and "" not in prefixes:
            only[name] = prefixes
        if tree and family.subsets and (prefixes or named):
            folder = getattr(OF_ATEN if family.folder == IN_ATEN else family.in_trees, tree)
            folders[name] = shims if shims and folder == SHIMS else folder
        elif family.folder and (prefixes or named):
            folders[name] = family.folder
    return RequestedFiles(only, folders, tree=bool(tree))


def prefixes_of(family: Family, subsets: Iterable[str]) -> tuple[str, ...]:
    """The prefixes of the names of a family's files that are in some of these subsets; none if no file is."""
    found = [family.subsets[subset] for subset in subsets if subset in family.subsets]
    return tuple(each for prefixes in found for each in ((prefixes,) if isinstance(prefixes, str) else prefixes))


def prints_any(families: Iterable[str], files: RequestedFiles, subsets: Iterable[str]) -> bool:
    """Whether some requested file is of one of these subsets, or made from an extension's files. `families`: by name;
    if empty, those by default are meant."""
    requested = [FAMILIES[name] for name in families] or [each for each in FAMILIES.values() if each.by_default]
    return any(
        bool(family.source) or any(files.has(family.name, prefix) for prefix in prefixes_of(family, subsets))
        for family in requested
    )
