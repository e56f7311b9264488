"""The oracle of variable_factories.h: runs torchgen itself, in a process of its own.

python tests/factories_oracle.py NATIVE TAGS TEMPLATES OUT [ROOT]: writes the header into the folder OUT. ROOT is a
folder that holds an unpacked torchgen/; without it the installed one is run.
"""

import sys
from pathlib import Path


def main(native: str, tags: str, templates: str, out: str, root: str = "") -> None:
    if root:
        sys.path.insert(0, root)
    from torchgen.packaged.autograd.gen_variable_factories import gen_variable_factories
    from torchgen.utils import FileManager

    # The folder's real path would be printed into the file.
    FileManager.template_dir_for_comments = lambda self: "packaged/autograd/templates"
    Path(out).mkdir(parents=True, exist_ok=True)
    gen_variable_factories(out, native, tags, templates)


if __name__ == "__main__":
    main(*sys.argv[1:])
