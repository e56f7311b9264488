"""The oracle of all that gen_autograd writes: runs torchgen itself, in a process of its own.

python tests/autograd_oracle.py NATIVE TAGS AUTOGRAD OUT [ROOT]: writes the files into the folder OUT. AUTOGRAD is the
folder of derivatives.yaml and templates; ROOT one that holds an unpacked torchgen/, without it the installed one is
run.
"""

import sys
from pathlib import Path


def script(torchgen: str) -> str:
    """What a build of PyTorch runs, by CMake and by Bazel, beside the package `torchgen`: some files name it."""
    return str(Path(torchgen).parent.parent / "tools" / "setup_helpers" / "generate_code.py")


def main(native: str, tags: str, autograd: str, out: str, root: str = "") -> None:
    if root:
        sys.path.insert(0, root)
    import torchgen
    from torchgen.packaged.autograd.gen_autograd import gen_autograd
    from torchgen.selective_build.selector import SelectiveBuilder
    from torchgen.utils import FileManager

    # The folder's real path would be printed into every file.
    FileManager.template_dir_for_comments = lambda self: "packaged/autograd/templates"
    sys.modules["__main__"].__file__ = script(torchgen.__file__)
    Path(out).mkdir(parents=True, exist_ok=True)
    gen_autograd(native, tags, out, autograd, SelectiveBuilder.get_nop_selector())


if __name__ == "__main__":
    main(*sys.argv[1:])
