"""Compiles the generated bindings, calls them, and compares: see the docstring of the package."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cpp import toolchain
from project import ROOT

from bindings_in_torch import build, known, report, symbols


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bindings_in_torch", description=__doc__)
    parser.add_argument("--small", action="store_true", help="only linalg, fft and special")
    parser.add_argument("--folder", type=Path, help="where to work, and what to keep for the next time")
    options = parser.parse_args()
    if reason := toolchain.missing("ninja", "nm", "c++filt"):
        raise SystemExit(reason)
    folder = (options.folder or ROOT / "build" / "bindings_in_torch").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    generated = build.generate(folder)
    units = build.small(generated) if options.small else build.whole(generated)
    modules = {build.SMALL: units} if options.small else {build.MODULE: units, build.TAGS: build.tags(generated)}
    _print(report.costs(build.build(folder, modules)))
    data = calls(folder, next(iter(modules)), parts=1 if options.small else 2)
    _print(report.lines(data))
    wrong = bool(report.unexplained(data) or report.never_called(data))
    return int(wrong or (not options.small and _wrong_without_calls(folder, generated)))


def calls(folder: Path, module: str, parts: int = 1, only: str = "") -> dict[str, Any]:
    """What is recorded of the calls of a module, by some processes at once: of bindings whose names begin with `only`.

    Ends the process if one of them fails.
    """
    outs = [folder / f"{Path(module).stem}_{part}.json" for part in range(parts)]
    words = [
        sys.executable,
        "-m",
        "bindings_in_torch.run",
        "--module",
        str(folder / module),
        "--of",
        str(parts),
        "--only",
        only,
    ]
    path = os.pathsep.join([str(ROOT / "tests"), str(ROOT)])
    env = os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": path}
    running = [
        subprocess.Popen([*words, "--part", str(part), "--out", str(out)], env=env) for part, out in enumerate(outs)
    ]
    for process, out in zip(running, outs):
        if status := process.wait():
            raise SystemExit(f"status {status}, in or after: {out.with_suffix('.last').read_text().splitlines()[0]}")
    return report.merged([json.loads(out.read_text()) for out in outs])


def _wrong_without_calls(folder: Path, generated: Path) -> bool:
    """Whether what is hidden is another set than `known` has, or the tags differ; prints both."""
    sources = [name for name in build.whole(generated) if name.startswith("python_")]
    hidden = symbols.hidden([folder / f"{name}.o" for name in sources])
    for name in sorted(hidden | known.HIDDEN.keys()):
        _print([f"{name} is {'not ' * (name not in hidden)}hidden: hidden.cpp {known.HIDDEN.get(name, 'lacks it')}"])
    ask = [sys.executable, "-m", "bindings_in_torch.tags", str(folder / build.TAGS)]
    same = subprocess.run(ask, check=False, cwd=ROOT / "tests").returncode == 0
    return hidden != known.HIDDEN.keys() or not same


def _print(lines: Sequence[str] | Any) -> None:
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
