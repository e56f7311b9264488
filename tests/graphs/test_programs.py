"""Random programs: their graphs match eager. Each run generates other programs.

The seed is the test run's, shown in pytest's header and in the message of a failure: `GRADMILL_PROGRAMS=N` generates
the same programs again. `GRADMILL_PARTS=8` generates 520 of them instead of a sample.
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
# The only difference of a copy that might have been a view, documented in docs/graphs.md: it may need a gradient.
MAYBE_COPIED = re.compile(r"\.(contiguous|reshape)\(")
NEEDLESS = re.compile(r"tensor \d+: \((.*), False, True\) \(\1, True, False\)")
REFUSED = (  # errors of a graph that eager does not have, documented in docs/graphs.md
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location",
    "a detached tensor got a value that needs a gradient",
    "a tensor gets other looks in place, and another name stands for the same tensor",
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
        except RuntimeError:
            continue
        if not overlaps.detected:
            good.append(program)
    write(good, path)
    return good


def wrong(written: list[Program], folder: Path, namespace: str) -> Iterator[str]:
    """The programs whose graphs differ from eager, each with its first difference."""
    path = folder / "programs.py"
    good = runs(written, path)
    assert len(good) > len(written) // 2
    ops, eager = library.build(path, folder, namespace), library.functions(path)
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
    if any(f"graph: RuntimeError: {message}" in difference for message in REFUSED):
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


@pytest.mark.alternates(2)
@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_match_eager(part: int, tmp_path: Path) -> None:
    written = programs.programs(SEED + part, AT_ONCE)
    assert list(wrong(written, tmp_path, f"many{part}")) == [], f"GRADMILL_PROGRAMS={SEED}, part {part}"
