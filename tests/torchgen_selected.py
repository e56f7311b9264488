"""torchgen's gen_autograd for lists of selected operators: python tests/torchgen_selected.py CASES.json

CASES.json names the folder of a torchgen package (`root`), and for each of the `cases` the file of the list
(`operators`, "" for none), whether it is the older kind (`legacy`), `disable_autograd`, and the folder for its output.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import yaml


def main(path: str) -> None:
    order = json.loads(Path(path).read_text())
    root = Path(order["root"])
    sys.path.insert(0, str(root))
    from torchgen.packaged.autograd import gen_autograd as module
    from torchgen.utils import FileManager

    FileManager.template_dir_for_comments = lambda self: "packaged/autograd/templates"
    sys.modules["__main__"].__file__ = str(root / "tools" / "setup_helpers" / "generate_code.py")
    autograd = root / "torchgen" / "packaged" / "autograd"
    native = root / "torchgen" / "packaged" / "ATen" / "native"
    paths = [str(native / "native_functions.yaml"), str(native / "tags.yaml")]
    infos, keys = module.load_derivatives(str(autograd / "derivatives.yaml"), *paths)
    # Matching adds to what is loaded, and each run of upstream's loads it.
    module.load_derivatives = lambda *_: (dict(infos), keys)
    trace, traced = module.gen_trace_type, Path(path).parent / "traced"

    def gen_trace_type(out: str, functions: Any, templates: str) -> None:
        """The same for every list: made once."""
        if not traced.exists():
            traced.mkdir()
            trace(str(traced), functions, templates)
        shutil.copytree(traced, out, dirs_exist_ok=True)

    module.gen_trace_type = gen_trace_type
    for case in order["cases"]:
        out = Path(case["out"])
        out.mkdir(parents=True)
        selected = selector(case["operators"], legacy=case["legacy"])
        module.gen_autograd(*paths, str(out), str(autograd), selected, disable_autograd=case["disable_autograd"])


def selector(path: str, *, legacy: bool) -> Any:
    """What PyTorch's tools/setup_helpers/generate_code.py makes of its two options."""
    from torchgen.selective_build.selector import SelectiveBuilder

    if not path:
        return SelectiveBuilder.get_nop_selector()
    if not legacy:
        return SelectiveBuilder.from_yaml_path(path)
    names = {name.split(".", 1)[0] for name in yaml.safe_load(Path(path).read_text())}
    return SelectiveBuilder.from_legacy_op_registration_allow_list(names, True, True)


if __name__ == "__main__":
    main(sys.argv[1])
