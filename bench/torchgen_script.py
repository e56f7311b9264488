"""torchgen's side of `python -m bench --script`: what PyTorch's generate_code.py calls, in one process."""

import os
import sys
from pathlib import Path

from bench.specs import ATEN, AUTOGRAD, CHECKOUT, NATIVE, TAGS


def run(checkout: Path, tree: Path, *, flat: bool = False) -> None:
    """Writes what the script writes for a checkout to the folder `tree`. `flat`: without subfolders."""
    import torchgen
    from torchgen.gen_functionalization_type import gen_functionalization_view_meta_classes
    from torchgen.packaged.autograd.gen_annotated_fn_args import gen_annotated
    from torchgen.packaged.autograd.gen_autograd import gen_autograd, gen_autograd_python
    from torchgen.selective_build.selector import SelectiveBuilder
    from torchgen.utils import FileManager

    # torchgen prints the folders of templates into every file and the script into some: use the paths of a build.
    script = Path(torchgen.__file__).parent.parent / "tools" / "setup_helpers" / "generate_code.py"
    sys.modules["__main__"].__file__ = str(script)
    FileManager.template_dir_for_comments = lambda self: f"../{os.path.relpath(self.template_dir, checkout)}"
    specs = (str(checkout / CHECKOUT[NATIVE]), str(checkout / CHECKOUT[TAGS]))
    csrc, python = tree / "torch" / "csrc", tree / "torch" / "testing" / "_internal" / "generated"
    autograd, views = csrc / "autograd" / "generated", csrc / "functionalization" / "generated"
    if flat:
        autograd = views = python = tree
    for folder in (autograd, views, python):
        folder.mkdir(parents=True, exist_ok=True)
    everything = SelectiveBuilder.get_nop_selector()
    gen_autograd_python(*specs, str(autograd), str(checkout / AUTOGRAD))
    gen_autograd(*specs, str(autograd), str(checkout / AUTOGRAD), operator_selector=everything)
    gen_annotated(*specs, str(python), str(checkout / AUTOGRAD))
    gen_functionalization_view_meta_classes(
        *specs, selector=everything, install_dir=str(views), template_dir=str(checkout / ATEN / "templates")
    )


if __name__ == "__main__":
    run(Path(sys.argv[1]), Path(sys.argv[2]), flat="flat" in sys.argv[3:])
