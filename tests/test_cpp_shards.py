"""A shard of the real specs compiles against torch's headers; tests/compile_all.py compiles all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from cpp import toolchain


def test_a_shard_of_the_real_specs_compiles_without_warnings(tmp_path: Path) -> None:
    if reason := toolchain.missing():
        pytest.skip(reason)
    from compile_all import Sources

    sources = Sources(tmp_path, "torch", shards=16)
    made = sources.compile(sources.generated / "Functions_8.cpp", "-O0")
    assert made.status == 0, made.output[-4000:]
    assert made.ours == []


def test_a_shard_includes_its_own_header_only(tmp_path: Path) -> None:
    """So that an edit of saved state elsewhere does not recompile it."""
    if reason := toolchain.missing():
        pytest.skip(reason)
    from compile_all import Sources

    sources = Sources(tmp_path, "torch", shards=64)
    made = sources.compile(sources.generated / "Functions_7.cpp", "-O0", ["-M", "-MF", str(tmp_path / "deps"), "-E"])
    assert made.status == 0, made.output[-4000:]
    words = (tmp_path / "deps").read_text().split()
    included = {Path(word).name for word in words if word.startswith(str(sources.generated))}
    assert included == {"Functions_7.cpp", "Functions.h", "Functions_common.h", "Functions_7.h"}
