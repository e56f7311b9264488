"""Real models as graphs: whether they are generated, compile, equal eager and train; what that takes.

    python -m bench.models [--only NAME…] [--skip-compile] [--time] [--again] [--limit SECONDS]

Needs timm, torchvision and transformers: `pip install --no-deps timm torchvision transformers`, and `pip install
safetensors huggingface_hub regex tokenizers tqdm requests pillow`. Weights are random; nothing is downloaded.

Each model goes through its steps in separate processes, each with a time limit: export, generate, compile, compare.
A row is written after each model, so that a run can be stopped. The next run goes on where it was: it generates again,
and keeps a row whose C++ is unchanged. `--again` also repeats rows that failed. Several runs, with other models each,
can run at once. The results are in `build/models/results.json`, and as a table in `build/models/results.md`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.models import rows, zoo

ROOT = Path(__file__).resolve().parent.parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[*zoo.CASES], metavar="NAME", choices=[*zoo.CASES])
    parser.add_argument("--skip-compile", action="store_true", help="export and generate only")
    parser.add_argument("--time", action="store_true", help="compile with -O2, and measure a step of each way")
    parser.add_argument("--again", action="store_true", help="repeat the last step of rows that failed")
    parser.add_argument("--limit", type=int, default=3600, metavar="SECONDS", help="of each process")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "models")
    options = parser.parse_args()
    results = rows.Results(options.folder)
    how = rows.How(options.skip_compile, options.time, options.again, options.limit)
    for name in options.only:
        row = rows.row(name, options.folder / name, results.rows.get(name, {}), how)
        results.put(name, row)
        print(f"{name:32} {rows.summary(row)}", flush=True)


if __name__ == "__main__":
    main()
