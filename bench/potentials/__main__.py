"""Interatomic potentials as graphs: energies, forces, stresses and ten steps of training, next to eager.

    python -m bench.potentials [--only NAME…] [--folder FOLDER]

Each potential is exported in two ways: the graph computes energies, forces and stresses (`graph`), or energies, which
the program differentiates (`by autograd`, generated with `double_backward=1`). Both are compiled with -O1, with the
program of `examples/forces`. The table is in `build/potentials/results.md`.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench.potentials.zoo import POTENTIALS

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from cpp import toolchain  # noqa: E402
from graphs import library  # noqa: E402

OPTIMIZE = "-O1"
WAYS = ("graph", "by autograd")
DISTANCES = ("energies", "forces", "stresses", "gradients")
HEAD = (
    "potential",
    "parameters",
    "atoms, edges",
    "way",
    *DISTANCES,
    "ten steps: SGD, Adam",
    "step, ms (eager, TorchScript)",
    "held, MB (eager, TorchScript)",
    "peak, MB (eager, TorchScript)",
    "kB of C++",
    "compile at -O1, s",
)
Row = dict[str, Any]


def run(*words: str) -> str:
    """The output of a process."""
    done = subprocess.run([*words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def built(folder: Path, which: str) -> dict[str, float]:
    """Generates and compiles one way: the operator, and the program that trains."""
    more = ["double_backward=1"] if which == "energy" else []
    generated = library.generate(folder / which / f"{which}.pt2", folder / which, "gradmill", "torch", *more)
    words = ["-w", *(["-DBY_AUTOGRAD"] if more else []), f"-I{generated}"]
    program = compiled(ROOT / "examples" / "forces" / "train.cpp", folder / which, words)
    sources = sorted((generated / "graphs").glob("*.cpp"))
    objects = [compiled(source, folder / which, words) for source in sources]
    library.linked([program, *objects], folder / which / "train", "-pie")
    library.linked(objects, folder / which / f"{which}.so")
    seconds = sum(float(each.with_suffix(".seconds").read_text()) for each in objects)
    return {"bytes": sum(each.stat().st_size for each in sources), "compile": seconds}


def compiled(source: Path, folder: Path, words: list[str]) -> Path:
    """The object of a source, which is kept next to the CPU seconds that it took."""
    digest = sha256(b"".join(each.read_bytes() for each in (source, *sorted(folder.glob("generated/graphs/*.h")))))
    target = folder / f"{source.stem}-{digest.hexdigest()[:16]}.o"
    if not target.with_suffix(".seconds").exists():
        flags = [*library.flags(OPTIMIZE), "-include", str(toolchain.precompiled(OPTIMIZE)), *words]
        before = _used()
        run("c++", *flags, "-c", str(source), "-o", str(target))
        target.with_suffix(".seconds").write_text(str(_used() - before))
    return target


def _used() -> float:
    """The CPU seconds of the processes that this one has started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def row(name: str, folder: Path) -> Row:
    """What is known of a potential."""
    run(sys.executable, "-m", "bench.potentials.export", name, str(folder))
    sizes = {way: built(folder, which) for way, which in zip(WAYS, ("potential", "energy"))}
    found: Row = json.loads(run(sys.executable, "-m", "bench.potentials.check", name, str(folder)))
    return {**found, "built": sizes}


def table(rows: dict[str, Row]) -> str:
    """Two lines for each potential."""
    lines = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
    return "\n".join([*lines, *(_line(name, each, way) for name, each in rows.items() for way in WAYS), ""])


def _line(name: str, found: Row, way: str) -> str:
    held, peak = ({key: f"{each[i] / 1e6:.1f}" for key, each in found["memory"].items()} for i in (0, 1))
    cells = [
        name,
        f"{found['parameters']:,}",
        f"{found['atoms']}, {found['edges']}",
        way,
        *(_number(found["distances"][way][each]) for each in DISTANCES),
        ", ".join(map(_number, found["steps"][way].values())),
        _beside({key: f"{1000 * each:.1f}" for key, each in found["seconds"].items()}, way),
        _beside(held, way),
        _beside(peak, way),
        f"{found['built'][way]['bytes'] / 1000:.0f}",
        f"{found['built'][way]['compile']:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def _number(value: float) -> str:
    return "0" if value == 0 else f"{value:.0e}"


def _beside(texts: dict[str, str], way: str) -> str:
    return f"{texts[way]} ({texts['eager']}, {texts['TorchScript']})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", metavar="NAME", choices=[*POTENTIALS, []], default=[*POTENTIALS])
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "potentials")
    wanted = parser.parse_args()
    rows: dict[str, Row] = {}
    for name in wanted.only:
        rows[name] = row(name, wanted.folder / name)
        print(table({name: rows[name]}), flush=True)
    wanted.folder.mkdir(parents=True, exist_ok=True)
    (wanted.folder / "results.json").write_text(json.dumps(rows, indent=1) + "\n")
    (wanted.folder / "results.md").write_text(table(rows))


if __name__ == "__main__":
    main()
