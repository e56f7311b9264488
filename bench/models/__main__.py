"""Real models as graphs: whether they are generated, compile, equal eager and train; what that takes.

    python -m bench.models [--only NAME…] [--skip-compile] [--time] [--again] [--limit SECONDS]
    python -m bench.models --device cuda --time [--ways WAY…] [--batch N] [--jobs N]

Needs timm, torchvision and transformers: `pip install --no-deps timm torchvision transformers`, and `pip install
safetensors huggingface_hub regex tokenizers tqdm requests pillow`. Weights are random; nothing is downloaded.

Each model goes through its steps in separate processes, each with a time limit: export, generate, compile, compare.
A row is written after each model, so that a run can be stopped. The next run goes on where it was: it generates again,
and keeps a row whose C++ is unchanged. `--again` also repeats rows that failed. Several runs, with other models each,
can run at once. The results are in `build/models/results.json`, and as a table in `build/models/results.md`.

On another device than the CPU several models are exported, generated and compiled at once, and one is measured.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.models import rows, zoo

ROOT = Path(__file__).resolve().parent.parent.parent


WAYS = ("eager", "graph", "exported", "aot_function", "aot_eager", "inductor")


def options() -> argparse.Namespace:
    """The options of the command line, with defaults that depend on the device."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="where models run: cpu, cuda")
    parser.add_argument("--only", nargs="*", metavar="NAME", choices=[*zoo.CASES, []])
    parser.add_argument("--batch", type=int, metavar="N", help="2 on the CPU, 32 on another device")
    parser.add_argument("--jobs", type=int, metavar="N", help="models at once: 1 on the CPU, 6 on another device")
    parser.add_argument("--skip-compile", action="store_true", help="export and generate only")
    parser.add_argument("--time", action="store_true", help="measure a step of each way")
    parser.add_argument("--optimize", choices=("-O0", "-O1", "-O2"), help="of the compiler: with --time -O2, else -O0")
    parser.add_argument("--ways", nargs="*", default=WAYS, metavar="WAY", choices=WAYS, help="with --time: which ways")
    parser.add_argument("--again", action="store_true", help="repeat the last step of rows that failed")
    parser.add_argument("--limit", type=int, default=3600, metavar="SECONDS", help="of each process")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "models")
    found = parser.parse_args()
    here = found.device == "cpu"
    found.only = (zoo.ON_CPU if here else zoo.ON_DEVICES) if found.only is None else found.only
    found.batch, found.jobs = found.batch or (2 if here else 32), found.jobs or (1 if here else 6)
    return found


def main() -> None:
    wanted = options()
    results = rows.Results(wanted.folder)
    ways = tuple(wanted.ways) if wanted.time else ()
    optimize = wanted.optimize or ("-O2" if wanted.time else "-O0")
    how = rows.How(wanted.skip_compile, ways, wanted.again, wanted.limit, wanted.device, wanted.batch, optimize)

    def one(name: str) -> None:
        row = rows.row(name, wanted.folder / name, results.rows.get(name, {}), how)
        results.put(name, row)
        print(f"{name:32} {rows.summary(row)}", flush=True)

    with ThreadPoolExecutor(wanted.jobs) as pool:
        for _ in pool.map(one, wanted.only):
            pass


if __name__ == "__main__":
    main()
