"""Graphs that are too large for one source: the files that they get, and that these compute the same."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from cpp import toolchain
from project import ROOT

from graphs import compare, library
from graphs.samples import tensor
from graphs.test_eager import SUITE

# Limits that cut small graphs, instead of the real ones.
SMALL = """
from gradmill.cli.start.command import run
from gradmill.extensions.graphs.print import files, large

files.SIZE, large.PART = {size}, {part}
run()
"""


def generate(path: Path, folder: Path, specs: str, size: int, part: int) -> list[str]:
    """Generates a file of functions with other limits; the names of its files."""
    words = [f"specs={specs}", f"graphs={path}", "families=graphs", "namespace=in_parts"]
    words += [f"generated={folder / 'generated'}", f"cache={folder / 'cache'}"]
    command = [sys.executable, "-c", SMALL.format(size=size, part=part), *words]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    return sorted(each.name for each in (folder / "generated" / "graphs").iterdir() if each.name.startswith(path.stem))


def test_functions_of_a_large_file_are_in_several_sources(tmp_path: Path) -> None:
    """Each whole: the file has no function that is too large."""
    names = generate(SUITE / "views.py", tmp_path, "core", 80, 2500)
    assert names == ["views.2.cpp", "views.3.cpp", "views.cpp", "views.h", "views.parts.h"]
    texts = [(tmp_path / "generated" / "graphs" / name).read_text() for name in names]
    assert all(len(text) < 140_000 for text in texts)
    assert [text.count("TORCH_LIBRARY_FRAGMENT") for text in texts] == [0, 0, 1, 0, 0]
    for text in texts[:3]:
        called = set(re.findall(r"formulas::(\w+)_apply_functional", text))
        assert called and called == set(re.findall(r"variable_list (\w+)_apply_functional", text))


def test_a_file_that_is_small_again_has_one_source_again(tmp_path: Path) -> None:
    assert len(generate(SUITE / "views.py", tmp_path, "core", 80, 2500)) == 5
    (tmp_path / "small").mkdir()
    small = tmp_path / "small" / "views.py"
    small.write_text("from torch import Tensor\n\n\ndef f(x: Tensor) -> Tensor:\n    return x * 2\n")
    assert generate(small, tmp_path, "core", 80, 2500) == ["views.cpp", "views.h"]


PARTED = """
from typing import Annotated

import torch
from torch import Tensor


def many(x: Tensor, y: Tensor, n: int) -> tuple[Tensor, Tensor, int]:
    size = x.shape[0] * n
    a, b = x.chunk(2)
    t = y.t()
    whole = torch.cat([a, b], 0).view(size // n, -1)
    c = whole @ t
    d = torch.logsumexp(c, 0)
    with torch.no_grad():
        scale = d.abs().sum()
    e = c.reshape(-1)
    e.mul_(2)
    f = torch.einsum("ij,kj->ik", x, y)
    x.add_(a.sum())
    values = c.softmax(-1) * f / scale
    return values.t(), (values.sin() * x.sum()).cumsum(0), size


def sharing(x: Annotated[Tensor, "alias:a"], y: Annotated[Tensor, "alias:a"]) -> Tensor:
    z = (x * y).exp()
    x.mul_(y)
    return z.sin() * y.cos() * x
"""


@pytest.mark.slow(8)
@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
def test_graphs_in_parts_match_eager(tmp_path: Path) -> None:
    path = tmp_path / "parted.py"
    path.write_text(PARTED)
    names = generate(path, tmp_path, "torch", 13, 1_500)
    generated = tmp_path / "generated"
    text = (generated / "graphs" / "parted.parts.h").read_text()
    assert all(f"many_{kind}_3(" in text for kind in ("forward", "backward"))
    objects = [library.compiled(generated / "graphs" / name, generated) for name in names if name.endswith(".cpp")]
    torch.ops.load_library(str(library.linked(objects, tmp_path / "in_parts.so")))
    functions = library.functions(path)
    assert list(compare.wrong({"sharing": functions["sharing"]}, torch.ops.in_parts)) == []

    def make() -> list[Any]:
        return [tensor(4, 6), tensor(4, 6), 3]

    for which in compare.choices(2):
        assert compare.differences(functions["many"], torch.ops.in_parts.many, make, which) == []
