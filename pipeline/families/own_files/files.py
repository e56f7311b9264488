"""Family: files of a vendor's own generator, made of texts that his description has. A unit is a function."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.families.family import Family, Layout, TreeFolders
from pipeline.families.file import File
from pipeline.model.units import Unit
from pipeline.releases.model import Release


class OwnFiles(Family):
    """Files that PyTorch does not have. A description names their templates, and the texts that fill them."""

    name, label = "own_files", "functions of own files"
    subject = "described"
    kernel = "Own"
    by_default = False
    planner = "values"
    in_trees = TreeFolders("", "")

    def files(self, units: Sequence[Unit], layout: Layout, release: Release) -> list[File]:
        """None: all of them are the description's."""
        return []


OWN_FILES = OwnFiles()
