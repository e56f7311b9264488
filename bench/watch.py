"""From a save to the files on disk, with `doit watch`: `python -m bench.watch`.

Saves another formula again and again, on the specs of the installed torch, and looks when `Functions.cpp` is another
file. The first save is told apart. The bytes of the last one are compared with those of a clean build.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import edits
from bench.scenarios import ROOT
from bench.specs import DERIVATIVES, make

LIMIT = 40  # milliseconds
_PATIENCE = 10  # seconds


def main() -> None:
    parser = argparse.ArgumentParser("python -m bench.watch", description=__doc__)
    parser.add_argument("--saves", type=int, default=20, metavar="N", help="how many (20)")
    saves = parser.parse_args().saves
    with tempfile.TemporaryDirectory(prefix="gradmill-watch-") as folder:
        taken = _measure(Path(folder).resolve(), saves)
    rest = sorted(taken[1:]) or taken
    print(f"save to disk, {saves} saves: first {taken[0]:.0f} ms, then median {statistics.median(rest):.0f} ms", end="")
    print(f" ({rest[0]:.0f} to {rest[-1]:.0f}); {sum(t > LIMIT for t in taken)} above {LIMIT} ms")


def _measure(place: Path, saves: int) -> list[float]:
    specs = make(place / "set", 1)
    base = specs.texts()
    made = place / "generated" / "Functions.cpp"
    words = [f"specs={specs.folder}", f"generated={made.parent}", f"cache={place / 'cache'}"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    watching = subprocess.Popen(
        [sys.executable, "-m", "doit", "watch", *words], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert watching.stdout is not None
    try:
        while not (line := watching.stdout.readline()).startswith("watching"):
            if not line:
                raise SystemExit("doit watch ended")
        taken = []
        for number in range(1, saves + 1):
            time.sleep(0.4)
            before = made.stat().st_ino, made.stat().st_mtime_ns
            text = edits.formula(base, number)[DERIVATIVES]
            start = time.perf_counter()
            specs.derivatives.write_text(text)
            while (made.stat().st_ino, made.stat().st_mtime_ns) == before:
                if time.perf_counter() - start > _PATIENCE:
                    raise SystemExit(f"save {number} is not on disk after {_PATIENCE} s")
                time.sleep(0.0002)
            taken.append((time.perf_counter() - start) * 1e3)
    finally:
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=_PATIENCE)
    clean = [f"specs={specs.folder}", f"generated={place / 'clean'}", f"cache={place / 'clean-cache'}"]
    subprocess.run([sys.executable, "-m", "doit", *clean], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    if (place / "clean" / "Functions.cpp").read_bytes() != made.read_bytes():
        raise SystemExit("what doit watch left is not what a clean build makes")
    return taken


if __name__ == "__main__":
    main()
