"""Runs torchgen for what gradmill does not print yet: `torchgen_kernels.py OUT [SPECS]`, or torch's own specs."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

_WANTED = ("VariableType*", "ADInplaceOrViewType*", "ViewFuncs*")


def main(out: str, specs: str = "") -> None:
    import torchgen
    from torchgen.packaged.autograd.gen_autograd import gen_autograd
    from torchgen.selective_build.selector import SelectiveBuilder
    from torchgen.utils import FileManager

    FileManager.template_dir_for_comments = lambda self: "packaged/autograd/templates"
    packaged = Path(torchgen.__file__).parent / "packaged"
    yaml, autograd = (specs, specs) if specs else (packaged / "ATen" / "native", packaged / "autograd")
    Path(out).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        native, tags = f"{yaml}/native_functions.yaml", f"{yaml}/tags.yaml"
        gen_autograd(native, tags, folder, str(autograd), SelectiveBuilder.get_nop_selector())
        for pattern in _WANTED:
            for path in Path(folder).glob(pattern):
                _copy(path, Path(out) / path.name)


def _copy(path: Path, target: Path) -> None:
    """Only if that changes something: what depends on the file would be made again."""
    if not target.exists() or target.read_bytes() != path.read_bytes():
        shutil.copyfile(path, target)


if __name__ == "__main__":
    main(*sys.argv[1:])
