"""What families have in common whose files `torchgen.gen` writes, among ATen's.

torchgen: `utils.FileManager.write_with_template`.
"""

import os

from gradmill.families.family import Family, comment_of_script
from gradmill.families.file import File


class InAten(Family):
    """A family of ATen's files, which no description changes."""

    described = False

    def comment_of(self, file: File, folder: str) -> str:
        """The comment by which the script names itself and the template."""
        return comment_of_script("torchgen/gen.py", os.path.basename(file.made_of))
