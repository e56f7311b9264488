"""The requested files of families, and their folders."""

from __future__ import annotations

from msgspec import Struct


class RequestedFiles(Struct, frozen=True):
    """The requested files and their folders, by family."""

    only: dict[str, tuple[str, ...]] = {}  # the prefixes of the names of the requested files; missing: all files
    folders: dict[str, str] = {}  # the folder of a family's files below the output folder; missing: the latter
    moved: dict[str, str] = {}  # the paths of files that are elsewhere, by name
    tree: bool = False  # whether other builds write to the output folder, too, as a build of PyTorch does

    def has(self, family: str, name: str) -> bool:
        """Whether a file of a family is requested. `name`: its own or, as descriptions rename files, its template's."""
        return name.startswith(self.only.get(family, ""))

    def path(self, family: str, name: str) -> str:
        """The name of a file, with its folder."""
        if name in self.moved:
            return self.moved[name]
        folder = self.folders.get(family, "")
        return f"{folder}/{name}" if folder else name


EVERYWHERE = RequestedFiles()  # all files of the requested families, in one folder
