"""Generated sources compile, link and load, in both layouts, and torch's dispatcher knows each kernel once."""

from __future__ import annotations

from pathlib import Path

import pytest

from cpp import toolchain

pytestmark = [
    pytest.mark.slow,
    pytest.mark.alternates(6),
    pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing()),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("linked")


@pytest.fixture(scope="module")
def precompiled(folder: Path) -> list[str]:
    from linked import header

    return header(folder)


@pytest.mark.parametrize("name", ["toy", "core"])
def test_each_kernel_is_registered_once_in_the_loaded_library(name: str, folder: Path, precompiled: list[str]) -> None:
    from linked import LAYOUTS, build, core, example, generate, loaded, written

    of = example() if name == "toy" else core(folder)
    actual = []
    for layout in LAYOUTS:
        generated = generate(of, layout, folder)
        actual.append(loaded(build(of, generated, precompiled)))
        assert actual[-1] == written(generated)
        assert set(actual[-1].values()) == {1}, actual[-1].most_common(5)
    assert actual[0] == actual[1]
