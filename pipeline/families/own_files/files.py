"""Family: files of a vendor's own generator, made of texts that his description has. A unit is a function."""

from __future__ import annotations

from pipeline.families.family import Family, TreeFolders


class OwnFiles(Family):
    """Files that PyTorch does not have: a description names them, their templates, and the texts that fill them."""

    name, label = "own_files", "functions of own files"
    subject = "described"
    kernel = "Own"
    by_default = False
    planner = "values"
    in_trees = TreeFolders("", "")


OWN_FILES = OwnFiles()
