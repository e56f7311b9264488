"""Family: files that the hooks of a description write whole. It has no units."""

from __future__ import annotations

from gradmill.families.family import Family
from gradmill.model.native import FunctionSummary
from gradmill.releases.model import Release


class HookFiles(Family):
    """Files that PyTorch does not have: `files` in the hooks of a description returns them."""

    name, label = "hook_files", "files of hooks"
    described = False

    def selects(self, head: FunctionSummary, release: Release) -> bool:
        return False


HOOK_FILES = HookFiles()
