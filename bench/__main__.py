"""Measures gradmill against torchgen on the specs of the installed torch, and on larger ones derived from them.

Both programs generate the same files from the same specs, one right after the other, each in its own process with
start-up included. After each pair their files must be equal, or the benchmark fails. Each edit is new.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from bench import report
from bench.scenarios import (
    ALL_SCENARIOS,
    COMMANDS,
    OF_EVERYTHING,
    OF_SCRIPT,
    ROOT,
    SCENARIOS,
    Measured,
    run_all,
)

_RESULTS = ROOT / "build" / "bench"


def main() -> None:
    options = _options()
    if options.plot and find_spec("matplotlib") is None:
        raise SystemExit("matplotlib is not installed: pip install 'gradmill[bench]', or use --no-plot")
    scales = sorted(set(options.scale))
    known = SCENARIOS
    if options.script or options.everything:
        known = OF_SCRIPT if options.script else OF_EVERYTHING
    scenarios = [scenario for scenario in known if not options.only or scenario.name in options.only]
    measured: list[Measured] = []
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="gradmill-bench-") as folder:
        place = Path(folder).resolve()
        sizes = (scales, options.runs, options.scaled_runs)
        for pair in run_all(place, *sizes, scenarios, options.families, options.command):
            measured.append(pair)
            times = ", ".join(f"{program} {sample.seconds:.3f} s" for program, sample in pair.samples.items())
            sys.stderr.write(f"{pair.scenario} x{pair.scale}, run {pair.run + 1}: {times}\n")
    result = report.result_of(measured, scales, (load, os.getloadavg()[0]))
    print(report.table(result))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report.as_json(result, measured), indent=1) + "\n")
    if options.plot:
        from bench.plot import draw

        draw(result, options.plot)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench", description=__doc__)
    parser.add_argument("--runs", type=_positive, default=9, metavar="N", help="pairs of runs with the real specs (9)")
    parser.add_argument(
        "--scaled-runs", type=_positive, default=3, metavar="N", help="pairs of runs with larger specs (3)"
    )
    parser.add_argument("--scale", type=_positive, nargs="+", default=[1, 10], metavar="N", help="sizes (1 10)")
    parser.add_argument("--families", default="", metavar="NAMES", help="output families, with commas; all by default")
    parser.add_argument("--command", choices=COMMANDS, default="doit", help="the command that starts gradmill (doit)")
    parser.add_argument("--script", action="store_true", help="generate-code, and all that PyTorch's script writes")
    parser.add_argument("--everything", action="store_true", help="all of PyTorch's files, also those of torchgen.gen")
    names = [scenario.name for scenario in ALL_SCENARIOS]
    parser.add_argument("--only", nargs="+", choices=names, help="these scenarios only")
    parser.add_argument("--json", type=Path, default=_RESULTS / "bench.json", metavar="FILE", help="every measurement")
    parser.add_argument("--plot", type=Path, default=_RESULTS / "bench.png", metavar="FILE", help="a .png or .svg")
    parser.add_argument("--no-plot", dest="plot", action="store_const", const=None, help="draw nothing")
    return parser.parse_args()


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value


if __name__ == "__main__":
    main()
