"""Generated files of the split layout compile against torch's headers, those of torch's own specs where these look for
them. The campaign of kernels in torch compiles all of them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from project import CORE, ROOT

from cpp import toolchain

PLACE = "torch/csrc/autograd/generated"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if reason := toolchain.missing():
        pytest.skip(reason)
    return tmp_path


def compiled(folder: Path, specs: str, source: str, *words: str) -> tuple[Path, str]:
    """Generates a set in 16 shards, and compiles one source: the folder of generated files, what the compiler says."""
    made = folder / PLACE
    places = [f"generated={made}", f"cache={folder / 'cache'}"]
    command = [sys.executable, "-m", "doit", "layout=split", "families=nodes,factories", f"specs={specs}", *places]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    include = (made, CORE / "templates") if specs == "core" else (folder,)
    command = ["c++", *toolchain.compile_flags(*include, optimize="-O0"), "-Wall", *words, str(made / source)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return made, done.stderr


@pytest.mark.slow(12)
@pytest.mark.parametrize("source", ["Functions_8.cpp", "Functions_8_formulas.cpp"])
def test_a_shard_of_the_real_specs_compiles_without_warnings(folder: Path, source: str) -> None:
    made, output = compiled(folder, "torch", source, "-fsyntax-only")
    warned = re.findall(r"^(\S+?):\d+:\d+: warning: ", output, re.MULTILINE)
    assert [place for place in warned if Path(place).resolve().is_relative_to(made.resolve())] == []


@pytest.mark.parametrize(
    ("source", "others"),
    [
        pytest.param("Functions_7.cpp", {"Functions_7.h"}, marks=pytest.mark.slow),
        ("Functions_7_formulas.cpp", set()),
    ],
)
def test_a_shard_includes_its_own_header_at_most(folder: Path, source: str, others: set[str]) -> None:
    """So that an edit of saved state elsewhere does not recompile it."""
    made, _ = compiled(folder, "core", source, "-M", "-MF", str(folder / "deps"), "-E")
    words = (folder / "deps").read_text().split()
    included = {Path(word).name for word in words if word.startswith(str(made))}
    assert included == {source, "Functions.h", "Functions_common.h", *others}
