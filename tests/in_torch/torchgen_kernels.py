"""Runs torchgen on a flat spec set, for what gradmill does not print yet: `torchgen_kernels.py SPECS OUT`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

_WANTED = ("VariableType*", "ADInplaceOrViewType*", "ViewFuncs*")


def main(specs: str, out: str) -> None:
    from torchgen.packaged.autograd.gen_autograd import gen_autograd
    from torchgen.selective_build.selector import SelectiveBuilder
    from torchgen.utils import FileManager

    FileManager.template_dir_for_comments = lambda self: "packaged/autograd/templates"
    Path(out).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        native, tags = f"{specs}/native_functions.yaml", f"{specs}/tags.yaml"
        gen_autograd(native, tags, folder, specs, SelectiveBuilder.get_nop_selector())
        for pattern in _WANTED:
            for path in Path(folder).glob(pattern):
                _copy(path, Path(out) / path.name)


def _copy(path: Path, target: Path) -> None:
    """Only if that changes something: what depends on the file would be made again."""
    if not target.exists() or target.read_bytes() != path.read_bytes():
        shutil.copyfile(path, target)


if __name__ == "__main__":
    main(*sys.argv[1:])
