"""Compiles the generated bindings, calls them, and compares: see the docstring of the package."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cpp import toolchain
from project import ROOT

from bindings_in_torch import build, report


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bindings_in_torch", description=__doc__)
    parser.add_argument("--folder", type=Path, help="where to work, and what to keep for the next time")
    options = parser.parse_args()
    if reason := toolchain.missing("ninja"):
        raise SystemExit(reason)
    folder = (options.folder or ROOT / "build" / "bindings_in_torch").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    build.build(folder, build.MODULE, build.units(build.generate(folder)))
    data = calls(folder, build.MODULE)
    for line in report.lines(data):
        print(line, flush=True)
    return int(bool(data["different"] or report.never_called(data)))


def calls(folder: Path, module: str, only: str = "") -> dict[str, Any]:
    """What a process records of the calls of a module: of bindings whose names begin with `only`.

    Ends this process if that one fails.
    """
    out = folder / f"{Path(module).stem}.json"
    words = ["--module", str(folder / module), "--only", only, "--out", str(out)]
    path = os.pathsep.join([str(ROOT / "tests"), str(ROOT)])
    env = os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": path}
    status = subprocess.run([sys.executable, "-m", "bindings_in_torch.run", *words], env=env, check=False).returncode
    if status:
        raise SystemExit(f"status {status}, in or after: {out.with_suffix('.last').read_text().splitlines()[0]}")
    data: dict[str, Any] = json.loads(out.read_text())
    return data


if __name__ == "__main__":
    sys.exit(main())
