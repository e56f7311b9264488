"""Random programs: what gradmill makes of them is what eager does. Others in each run.

The seed is that of the test run, which pytest's header has, and is in the message of a failure: `GRADMILL_PROGRAMS=N`
makes the same programs again. `GRADMILL_PARTS=8` makes 520 of them in place of a sample.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from cpp import toolchain
from never_wrong import seed
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch_seed import seed_torch

from graphs import compare, library, programs
from graphs.programs import Program

pytestmark = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())

SEED = int(os.environ.get("GRADMILL_PROGRAMS") or seed.SEED)
PARTS, AT_ONCE = int(os.environ.get("GRADMILL_PARTS", "2")), 65
LEAF = "a leaf Variable that requires grad is being used in an in-place operation"
# What docs/graphs.md says as well: a copy that might have been a view may need a gradient, and that is all.
MAYBE_COPIED = re.compile(r"\.(contiguous|reshape)\(")
NEEDLESS = re.compile(r"tensor \d+: \((.*), False, True\) \(\1, True, False\)")
REFUSED = (  # what eager does and a graph says that it does not: docs/graphs.md
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location",
    "a detached tensor got a value that needs a gradient",
    "a tensor gets other looks in place, and another name stands for the same tensor",
)


def made(program: Program) -> compare.Make:
    """Makes a program's inputs."""
    return lambda: [torch.rand(programs.SHAPE, dtype=torch.float64) - 0.3 for _ in range(program.inputs)]


def write(found: list[Program], path: Path) -> None:
    path.write_text("\n\n".join([programs.HEADER, *(program.text for program in found)]))


def runs(found: list[Program], path: Path) -> list[Program]:
    """The programs that eager runs: what it refuses is of no interest here."""
    write(found, path)
    eager = library.functions(path)
    good = []
    for program in found:
        try:
            with Overlaps() as overlaps:
                eager[program.name](*made(program)())
        except RuntimeError:
            continue
        if not overlaps.found:
            good.append(program)
    write(good, path)
    return good


def wrong(found: list[Program], folder: Path, namespace: str) -> Iterator[str]:
    """The programs that do something else as graphs, each with what."""
    path = folder / "programs.py"
    good = runs(found, path)
    assert len(good) > len(found) // 2
    ops, eager = library.build(path, folder, namespace), library.functions(path)
    for program in good:
        for which in compare.choices(program.inputs):
            seed_torch(5)
            if not readable(eager[program.name], program, which):
                continue
            differing = compare.differences(eager[program.name], getattr(ops, program.name), made(program), which)
            needless = all(map(NEEDLESS.fullmatch, differing)) and MAYBE_COPIED.search(program.text)
            if differing and not needless and not is_told(differing[0], which):
                yield f"{program.text}\n{which}: {differing[0]}"
                break


def is_told(difference: str, which: tuple[str, ...]) -> bool:
    """Whether docs/graphs.md says so: what a graph refuses; that it writes by a view that was taken before its base
    came to need a gradient, which eager takes for a leaf."""
    if any(f"graph: RuntimeError: {told}" in difference for told in REFUSED):
        return True
    return "leaf" not in which and f"eager: RuntimeError: {LEAF}" in difference and "graph: no error" in difference


class Overlaps(TorchDispatchMode):
    """Looks for operators that write to memory of which they read another part: what comes of it is not defined."""

    found = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
        if tensors and func._schema.is_mutable:
            written, *others = tensors
            self.found |= any(
                other.untyped_storage().data_ptr() == written.untyped_storage().data_ptr()
                and (other.data_ptr(), other.size(), other.stride())
                != (written.data_ptr(), written.size(), written.stride())
                for other in others
            )
        return func(*args, **(kwargs or {}))


def readable(function: object, program: Program, which: tuple[str, ...]) -> bool:
    """Whether what eager gives can be looked at: some views cannot once their base has been written to."""
    given, _ = compare.prepared(made(program)(), which)
    try:
        outputs = function(*given)  # type: ignore[operator]
    except RuntimeError:
        return True  # then the graph has to refuse it as well
    try:
        return all(isinstance(tensor.is_leaf, bool) for tensor in compare.tensors([outputs]))
    except RuntimeError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_do_what_eager_does(part: int, tmp_path: Path) -> None:
    found = programs.programs(SEED + part, AT_ONCE)
    assert list(wrong(found, tmp_path, f"many{part}")) == [], f"GRADMILL_PROGRAMS={SEED}, part {part}"
