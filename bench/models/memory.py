"""What models hold with a memory budget, next to the same graph without, to eager and to `aot_function`.

    python -m bench.models.memory [--memory FRACTION] [--only NAME…] [--device cuda]

Needs what `python -m bench.models` needs. Each model is exported, and generated and compiled twice, in namespaces of
their own. One process then runs both: with equal seeds, losses and gradients have to be equal, bit for bit; on a device
that adds in any order, the table has their distance, and that of two steps without a budget. Seconds are of pairs of
steps, one of each: of the processor on a CPU, of the wall on another device. There all models are compiled at once,
with `-O2`, and a folder of `python -m bench.models` serves as well.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.models import rows

MODELS = (
    "resnet18 mobilenetv2_100 efficientnet_b0 convnext_tiny deit_small_patch16_224 swin_tiny_patch4_window7_224 "
    "poolformer_s12 bert_base distilbert gpt2 llama"
).split()
PAIRS, LIMIT = 7, 3600
BUDGET = "budget"  # the folder of the second graph of a model, and the end of its namespace
WAYS = ("eager", "aot_function", "graph", BUDGET)
HEAD = ("model", "memory", f"held, MB ({', '.join(WAYS)})", "peak, MB", "time of a step next to no budget")


def built(name: str, folder: Path, how: rows.How, memory: float) -> None:
    """Exports a model, and makes the libraries of its two graphs."""
    rows.exported(name, folder, how)
    inner = folder / BUDGET
    inner.mkdir(exist_ok=True)
    (inner / f"{name}.pt2").write_bytes((folder / f"{name}.pt2").read_bytes())
    for at, each in ((folder, how), (inner, how._replace(memory=memory, namespace=f"zoo_{BUDGET}"))):
        rows.generated(name, at, each)
        rows.compiled(name, at, each)


def measured(name: str, folder: Path, batch: int, device: str) -> dict[str, Any]:
    """Bytes of each way, and how the time of a step with the budget compares with one without, in pairs."""
    import torch
    from torch import nn

    from bench.models import check

    warnings.simplefilter("ignore")
    if device == "cpu":
        torch.set_num_threads(1)
    for at in (folder, folder / BUDGET):
        torch.ops.load_library(str(at / f"{name}.so"))
    subject = check.Subject(name, folder, batch, device)
    steps: dict[str, tuple[nn.Module, check.Loss]] = {}
    for way in WAYS:
        own = subject._replace(namespace=f"zoo_{BUDGET}") if way == BUDGET else subject
        steps[way] = check.ways_of(own)["graph" if way == BUDGET else way]()
    one, other = steps["graph"], steps[BUDGET]
    third = check.ways_of(subject)["graph"]()
    losses = [check.stepped(*each) for each in (one, other, third)]
    far, again = (check.gradients(one[0], each)[0] for each in (other[0], third[0]))
    equal = torch.equal(*losses[:2]) and far == 0
    held = {way: check.memory(*each) for way, each in steps.items()}
    pairs = [(check.seconds(*one), check.seconds(*other)) for _ in range(PAIRS)]
    return {"equal": equal, "far": far, "again": again, "memory": held, "pairs": pairs}


def line(name: str, memory: float, row: dict[str, Any]) -> str:
    """A row of the table."""
    held, peak = (", ".join(f"{row['memory'][way][kind] / 1e6:.1f}" for way in WAYS) for kind in ("held", "peak"))
    ratio = statistics.median(other / one for one, other in row["pairs"])
    least = min(one for one, _ in row["pairs"])
    note = "" if row["equal"] else f", **not equal**: {row['far']:.0e} ({row['again']:.0e} without a budget)"
    return f"| {name} | {memory} | {held} | {peak} | {ratio:.3f} (of {least:.3f} s){note} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=float, default=0.5, metavar="FRACTION")
    parser.add_argument("--only", nargs="*", default=MODELS, metavar="NAME")
    parser.add_argument("--device", default="cpu", help="where models run: cpu, cuda")
    parser.add_argument("--folder", type=Path, default=rows.ROOT / "build" / "models-memory")
    parser.add_argument("--measure", action="store_true", help="in a process of its own")
    wanted = parser.parse_args()
    here = wanted.device == "cpu"
    how = rows.How(False, (), False, LIMIT, wanted.device, 2 if here else 32, "-O0" if here else "-O2")
    if wanted.measure:
        name = wanted.only[0]
        print(json.dumps(measured(name, wanted.folder / name, how.batch, how.device)))
        return
    print(f"| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|", flush=True)
    for group in [[name] for name in wanted.only] if here else [wanted.only]:
        with ThreadPoolExecutor(len(group)) as pool:
            list(pool.map(lambda name: built(name, wanted.folder / name, how, wanted.memory), group))
        for name in group:
            words = [sys.executable, "-m", "bench.models.memory", "--measure", "--only", name, "--device", how.device]
            ended = subprocess.run([*words, "--folder", str(wanted.folder)], check=True, capture_output=True, text=True)
            print(line(name, wanted.memory, json.loads(ended.stdout.splitlines()[-1])), flush=True)


if __name__ == "__main__":
    main()
