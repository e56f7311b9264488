"""Compares the graphs of random programs with eager.

    python -m tests.graphs.random_programs [--count N] [--seed S] [--minutes M]

Writes programs, generates their graphs, compiles them, and calls each with inputs in several layouts and all choices of
which need gradients: errors, outputs, sharing, versions and gradients, of each output alone too, have to be those of
eager. `--minutes` ends the run after that much CPU time.
Prints each program that differs, and at the end how many were compared; the exit status is 1 if any differs. The same
seed writes the same programs.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch
from torch_seed import seed_torch

from graphs import compare, library, programs
from graphs.documented import is_documented, is_needless, is_undefined
from graphs.programs import Program

AT_ONCE = 65  # programs in one library


def inputs_of(program: Program) -> compare.Make:
    """The function that makes a program's inputs."""
    return lambda: [torch.rand(programs.SHAPE, dtype=torch.float64) - 0.3 for _ in range(program.inputs)]


def write(programs_: list[Program], path: Path) -> None:
    path.write_text("\n\n".join([programs.HEADER, *(program.text for program in programs_)]))


def runs(written: list[Program], path: Path) -> list[Program]:
    """The programs that eager runs without an error."""
    write(written, path)
    eager = library.functions(path)
    good = []
    for program in written:
        try:
            eager[program.name](*inputs_of(program)())
        except (RuntimeError, IndexError):
            continue
        if not is_undefined(eager[program.name], inputs_of(program)()):
            good.append(program)
    write(good, path)
    return good


class Counted:
    """How many programs were compared: eager refuses some of those that are written."""

    count = 0


def wrong(written: list[Program], folder: Path, namespace: str, counted: Counted | None = None) -> Iterator[str]:
    """The programs whose graphs differ from eager, each with its first difference."""
    path = folder / "programs.py"
    good = runs(written, path)
    assert len(good) > len(written) // 2
    ops, eager = library.build(path, folder, namespace, "torch"), library.functions(path)
    if counted is not None:
        counted.count += len(good)
    for program in good:
        for layout, which in itertools.product(compare.LAYOUTS, compare.choices(program.inputs)):
            seed_torch(5)
            make = compare.laid_out(inputs_of(program), layout)
            if not readable(eager[program.name], make, which) or is_undefined(eager[program.name], make()):
                continue
            function, graph = eager[program.name], getattr(ops, program.name)
            differing = compare.differences(function, graph, inputs_of(program), which, layout)
            if differing and not is_needless(differing, program.text) and not is_documented(differing[0], which):
                yield f"{program.text}\n{layout}, {which}: {differing[0]}"
                break


def readable(function: object, make: compare.Make, which: tuple[str, ...]) -> bool:
    """Whether the outputs of eager can be accessed: some views cannot after a write to their base."""
    inputs, _ = compare.prepared(make(), which)
    try:
        outputs = function(*inputs)  # type: ignore[operator]
    except RuntimeError:
        return True  # then the graph has to refuse it as well
    try:
        return all(isinstance(tensor.is_leaf, bool) for tensor in compare.tensors([outputs]))
    except RuntimeError:
        return False


class Run:
    """Many programs, some at a time, in a folder. Objects are deleted once they are loaded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.compared = 0
        self.differing = 0
        library.KEPT = folder / "objects"

    def part(self, number: int, seed: int, count: int) -> None:
        """Compares `count` programs; prints those that differ."""
        written = programs.programs(seed, count)
        found = Counted()
        for each in wrong(written, self.folder, f"random_{number}", found):
            self.differing += 1
            print(f"seed {seed}, {count} at once:\n{each}", flush=True)
        self.compared += found.count
        for file in [*library.KEPT.glob("graphs-*.o"), *self.folder.glob("random_*.so")]:
            file.unlink()


def used() -> float:
    """CPU seconds of this process and those it started."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, metavar="N", help="programs to write")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--minutes", type=float, default=float("inf"), metavar="M", help="of CPU time")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
        run = Run(Path(name))
        for number, start in enumerate(range(0, options.count, AT_ONCE)):
            run.part(number, options.seed + number, min(AT_ONCE, options.count - start))
            print(f"{run.compared} compared, {run.differing} differ, {used():.0f} s of CPU time", flush=True)
            if used() > options.minutes * 60:
                break
    return 1 if run.differing else 0


if __name__ == "__main__":
    sys.exit(main())
