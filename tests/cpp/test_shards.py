"""A shard of the real specs compiles against torch's headers; tests/compile_all.py compiles all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cpp import toolchain


@pytest.mark.slow(12)
@pytest.mark.parametrize("source", ["Functions_8.cpp", "Functions_8_formulas.cpp"])
def test_a_shard_of_the_real_specs_compiles_without_warnings(tmp_path: Path, source: str) -> None:
    if reason := toolchain.missing():
        pytest.skip(reason)
    from compile_all import Sources

    sources = Sources(tmp_path, "torch", shards=16)
    made = sources.compile(sources.generated / source, "-O0", ["-fsyntax-only"])
    assert made.status == 0, made.output[-4000:]
    assert made.ours == []


@pytest.mark.parametrize(
    ("source", "others"),
    [
        pytest.param("Functions_7.cpp", {"Functions_7.h"}, marks=pytest.mark.slow),
        ("Functions_7_formulas.cpp", set()),
    ],
)
def test_a_shard_includes_its_own_header_at_most(tmp_path: Path, source: str, others: set[str]) -> None:
    """So that an edit of saved state elsewhere does not recompile it."""
    if reason := toolchain.missing():
        pytest.skip(reason)
    from compile_all import Sources

    sources = Sources(tmp_path, "core", shards=16)
    made = sources.compile(sources.generated / source, "-O0", ["-M", "-MF", str(tmp_path / "deps"), "-E"])
    assert made.status == 0, made.output[-4000:]
    words = (tmp_path / "deps").read_text().split()
    included = {Path(word).name for word in words if word.startswith(str(sources.generated))}
    assert included == {source, "Functions.h", "Functions_common.h", *others}
