"""Which files of the families are generated, and in which folders: all in one, or as a build of PyTorch has them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from pipeline.families.family import Place
from pipeline.families.table import FAMILIES

SUBSETS = tuple(dict.fromkeys(subset for family in FAMILIES.values() for subset in family.subsets))
TREES = Place._fields


class Places(Struct, frozen=True):
    """The requested files and their folders, by family."""

    only: dict[str, tuple[str, ...]] = {}  # the prefixes of the names of the requested files; missing: all files
    folders: dict[str, str] = {}  # the folder of a family's files below the output folder; missing: the latter

    def has(self, family: str, name: str) -> bool:
        """Whether a file of a family is requested. `name`: its own or, as descriptions rename files, its template's."""
        return name.startswith(self.only.get(family, ""))

    def path(self, family: str, name: str) -> str:
        """The name of a file, with its folder."""
        folder = self.folders.get(family, "")
        return f"{folder}/{name}" if folder else name


EVERYWHERE = Places()  # all files of the requested families, in one folder


def find_places(requested: Iterable[str], tree: str) -> Places:
    """The places of files. `requested`: names of families and subsets; if empty, the families by default are meant.
    `tree`: one of TREES, "" for one folder."""
    requested = tuple(requested)
    only: dict[str, tuple[str, ...]] = {}
    folders: dict[str, str] = {}
    for name, family in FAMILIES.items():
        prefixes = tuple(family.subsets[subset] for subset in requested if subset in family.subsets)
        named = name in requested or (not requested and family.by_default)
        if prefixes and not named and "" not in prefixes:
            only[name] = prefixes
        if tree and family.subsets and (prefixes or named):
            folders[name] = getattr(family.place, tree)
    return Places(only, folders)
