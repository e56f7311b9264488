"""Compares the graphs of random programs with eager.

    python -m tests.campaigns programs [--count N] [--seed N] [--minutes M]

Writes programs, generates their graphs, compiles them, and calls each with inputs in several layouts and all choices of
which need gradients: errors, outputs, sharing, versions and gradients, of each output alone too, have to be those of
eager. The same seed writes the same programs.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from never_wrong.campaign import Trial, options, run
from torch_seed import seed_torch

from graphs import compare, library, programs
from graphs.documented import is_documented, is_undefined
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
            if differing and not is_documented(differing[0], which):
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


def trials(folder: Path, seed: int, count: int) -> Iterator[Trial]:
    """Those of many programs, some in one library each, whose objects are deleted once they are loaded."""
    library.KEPT = folder / "objects"
    for number, start in enumerate(range(0, count, AT_ONCE)):
        written, found = programs.programs(seed + number, min(AT_ONCE, count - start)), Counted()
        differing = list(wrong(written, folder, f"random_{number}", found))
        for each in differing:
            yield Trial("programs", each, f"seed {seed + number}, {len(written)} at once")
        yield from [Trial("programs")] * (found.count - len(differing))
        for file in [*library.KEPT.glob("graphs-*.o"), *folder.glob("random_*.so")]:
            file.unlink()


def main(words: Sequence[str]) -> int:
    wanted = options(__doc__, 1000).parse_args(words)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="gradmill-") as name:
        return run(trials(Path(name), wanted.seed, wanted.count), wanted)
