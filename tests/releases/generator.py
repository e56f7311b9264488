"""The files of PyTorch's generator that decide the output of `tools/setup_helpers/generate_code.py` and torchgen.gen,
with digests.

A package is laid out as a checkout. There torchgen is run as the script runs it, with a list of selected operators and
the lazy backend; then torchgen.gen. The files are those with a function that runs. A file that is only imported, such
as torchgen/aoti/fallback_ops.py, is none of them: gradmill reads it as an input.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from cProfile import Profile
from pathlib import Path

LIST = "selected.yaml"
SELECTED = "include_all_operators: true\noperators:\n  aten::exp: {include_all_overloads: true}\n"
# A dry run still computes the declarations of kernels, and C functions. Under another path the functions are read
# again: those that the script read have the kernels of the lazy backend.
GEN = ("--dry-run", "--per-operator-headers", "-s", "./aten/src/ATen")
OPTIONS = ("--operators-yaml-path", LIST, "--gen-lazy-ts-backend", "--per-operator-headers", "--gen-dir", "generated")


def rows_of_generator(root: Path, folder: Path) -> set[str]:
    """The rows of the table `generator`: the path in a checkout, and the digest. `root` holds the release's torchgen; a
    checkout is made in `folder`. Raises Broken if torchgen fails."""
    from checkouts import whole_checkout

    from gradmill.releases.names import digest_of_source

    checkout = whole_checkout(root, folder / "generator")
    (checkout / LIST).write_text(SELECTED)
    return {f"{path} {digest_of_source((checkout / path).read_bytes())}" for path in _called(checkout)}


def _called(checkout: Path) -> set[str]:
    """The files of a checkout with a function that its script calls."""
    from releases import run

    command = [sys.executable, "-B", os.path.abspath(__file__)]
    paths = json.loads(run(command, checkout).splitlines()[-1])
    return {
        os.path.relpath(path, checkout)
        for path in paths
        if path.startswith(f"{checkout}/") and "setup_helpers" not in path
    }


def _run_script() -> None:
    """Runs the script of the current folder and torchgen.gen, and prints the files of all functions that ran."""
    from checkouts import SCRIPT

    sys.argv = [SCRIPT, *OPTIONS]
    profile = Profile()
    profile.runcall(runpy.run_path, SCRIPT, run_name="__main__")
    from torchgen import gen  # that of the folder, which the script imported

    sys.argv = ["gen.py", *GEN]
    profile.runcall(gen.main)
    profile.create_stats()
    print(json.dumps(sorted({path for path, _, function in profile.stats if function != "<module>"})))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    _run_script()
