"""From a save to the files on disk, with `gradmill watch`: `python -m bench.watch`.

Repeatedly saves a new formula in the specs of the installed torch, and polls until `Functions.cpp` is replaced. The
first save is reported separately. After the last save, the file must be equal to that of a clean build.
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
    parser.add_argument("--saves", type=int, default=20, metavar="N", help="number of saves (20)")
    saves = parser.parse_args().saves
    with tempfile.TemporaryDirectory(prefix="gradmill-watch-") as folder:
        durations = _measure(Path(folder).resolve(), saves)
    rest = sorted(durations[1:]) or durations
    print(
        f"save to disk, {saves} saves: first {durations[0]:.0f} ms, then median {statistics.median(rest):.0f} ms",
        end="",
    )
    print(f" ({rest[0]:.0f} to {rest[-1]:.0f}); {sum(t > LIMIT for t in durations)} above {LIMIT} ms")


def _measure(place: Path, saves: int) -> list[float]:
    specs = make(place / "set", 1)
    base = specs.texts()
    generated_file = place / "generated" / "Functions.cpp"
    words = [f"specs={specs.folder}", f"generated={generated_file.parent}", f"cache={place / 'cache'}"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    watching = subprocess.Popen(
        [sys.executable, "-m", "gradmill", "watch", *words],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None
    try:
        while not (line := watching.stdout.readline()).startswith("watching"):
            if not line:
                raise SystemExit("gradmill watch ended")
        durations = []
        for number in range(1, saves + 1):
            time.sleep(0.4)
            before = generated_file.stat().st_ino, generated_file.stat().st_mtime_ns
            text = edits.formula(base, number)[DERIVATIVES]
            start = time.perf_counter()
            specs.derivatives.write_text(text)
            while (generated_file.stat().st_ino, generated_file.stat().st_mtime_ns) == before:
                if time.perf_counter() - start > _PATIENCE:
                    raise SystemExit(f"save {number} is not on disk after {_PATIENCE} s")
                time.sleep(0.0002)
            durations.append((time.perf_counter() - start) * 1e3)
    finally:
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=_PATIENCE)
    clean = [f"specs={specs.folder}", f"generated={place / 'clean'}", f"cache={place / 'clean-cache'}"]
    subprocess.run([sys.executable, "-m", "doit", *clean], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    if (place / "clean" / "Functions.cpp").read_bytes() != generated_file.read_bytes():
        raise SystemExit("the file of gradmill watch differs from that of a clean build")
    return durations


if __name__ == "__main__":
    main()
