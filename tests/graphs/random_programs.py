"""Compares the graphs of random programs with eager.

    python -m tests.graphs.random_programs [--count N] [--seed S] [--minutes M]

Writes programs, generates their graphs, compiles them, and calls each with all choices of which inputs need gradients:
outputs, sharing, versions and gradients have to be those of eager. `--minutes` ends the run after that much CPU time.
Prints each program that differs, and at the end how many were compared; the exit status is 1 if any differs. The same
seed writes the same programs.
"""

from __future__ import annotations

import argparse
import re
import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch_seed import seed_torch

from graphs import compare, library, programs
from graphs.programs import Program
from pipeline.graphs.functional import storage

AT_ONCE = 65  # programs in one library
LEAF = "a leaf Variable that requires grad is being used in an in-place operation"
# The only difference of a copy that might have been a view, documented in docs/graphs.md: it may need a gradient.
MAYBE_COPIED = re.compile(r"\.(contiguous|reshape|flatten|ravel|double|to|dropout)\(")
NEEDLESS = re.compile(r"tensor \d+: \((.*), False, True\) \(\1, True, False\)")
REFUSED = (  # errors of a graph that eager does not have, documented in docs/graphs.md
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location",
    storage.DETACHED,
    "too many indices for tensor of dimension 0",
    storage.ITSELF,
)


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
            with Overlaps() as overlaps:
                eager[program.name](*inputs_of(program)())
        except (RuntimeError, IndexError):
            continue
        if not overlaps.detected:
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
        for which in compare.choices(program.inputs):
            seed_torch(5)
            if not readable(eager[program.name], program, which):
                continue
            differing = compare.differences(eager[program.name], getattr(ops, program.name), inputs_of(program), which)
            needless = all(map(NEEDLESS.fullmatch, differing)) and MAYBE_COPIED.search(program.text)
            if differing and not needless and not is_documented(differing[0], which):
                yield f"{program.text}\n{which}: {differing[0]}"
                break


def is_documented(difference: str, which: tuple[str, ...]) -> bool:
    """Whether docs/graphs.md lists a difference: an error of a graph; or a write to a view that was made before its
    base needed a gradient, which eager treats as a leaf."""
    if any(re.search(rf"graph: \w+: {re.escape(message)}", difference) for message in REFUSED):
        return True
    return "leaf" not in which and f"eager: RuntimeError: {LEAF}" in difference and "graph: no error" in difference


class Overlaps(TorchDispatchMode):
    """Detects operators that write to memory and read another part of it: their result is undefined."""

    detected = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
        if tensors and func._schema.is_mutable:
            written, *others = tensors
            self.detected |= any(
                other.untyped_storage().data_ptr() == written.untyped_storage().data_ptr()
                and (other.data_ptr(), other.size(), other.stride())
                != (written.data_ptr(), written.size(), written.stride())
                for other in others
            )
        return func(*args, **(kwargs or {}))


def readable(function: object, program: Program, which: tuple[str, ...]) -> bool:
    """Whether the outputs of eager can be accessed: some views cannot after a write to their base."""
    inputs, _ = compare.prepared(inputs_of(program)(), which)
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
