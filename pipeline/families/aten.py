"""What families have in common whose files `torchgen.gen` writes, among ATen's.

torchgen: `utils.FileManager.write_with_template`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec.structs import replace

from pipeline.families.family import comment_of_script
from pipeline.families.file import File

SCRIPT = "torchgen/gen.py"


def by_script(files: Iterable[File]) -> list[File]:
    """The files with the comment by which the script names itself and their templates."""
    return [replace(file, comment=comment_of_script(SCRIPT, os.path.basename(file.template))) for file in files]
