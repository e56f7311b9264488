"""What the build of a PyTorch checkout runs for the files that gradmill makes: torchgen, with the arguments and in the
order of the checkout's `tools/setup_helpers/generate_code.py`. It is copied there, and run from the checkout's root.
"""

import sys
from pathlib import Path

SCRIPT = Path(__file__).absolute()
ATEN = "aten/src/ATen/native"
OUT = "torch/csrc/autograd/generated"


def main() -> None:
    sys.path.insert(0, str(SCRIPT.parent.parent.parent))
    from tools.autograd.gen_autograd import gen_autograd
    from tools.autograd.gen_autograd_functions import gen_autograd_functions_python
    from tools.autograd.load_derivatives import load_derivatives
    from torchgen.selective_build.selector import SelectiveBuilder

    native, tags = f"{ATEN}/native_functions.yaml", f"{ATEN}/tags.yaml"
    autograd = SCRIPT.parent.parent / "autograd"
    infos, _ = load_derivatives(str(autograd / "derivatives.yaml"), native, tags)
    gen_autograd_functions_python(OUT, infos, str(autograd / "templates"))
    gen_autograd(native, tags, OUT, str(autograd), SelectiveBuilder.get_nop_selector())


if __name__ == "__main__":
    main()
