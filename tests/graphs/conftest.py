"""Fixtures: the graphs of `sources/`, compiled once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import copyfile
from typing import Any

import installed
import pytest
import torch

from graphs import library

# The files of `sources/` that are compiled with each setting: one library costs less than one for each file.
LIBRARIES = {
    "double_backward=0": ("attention", "overwritten", "slices", "subscripts"),
    "double_backward=1": ("composites", "overwritten", "selects", "twice_more"),
}


@pytest.fixture(scope="session")
def sources(shared: Path) -> Callable[[str], Any]:
    """Their operators with a setting, of the specs of torch. The first process that asks for them compiles."""

    def operators(setting: str) -> Any:
        namespace = f"sources_{setting[-1]}"

        def compiled(folder: Path) -> Path:
            (folder / "graphs").mkdir()
            for name in LIBRARIES[setting]:
                copyfile(library.SOURCES / f"{name}.py", folder / "graphs" / f"{name}.py")
            generated = library.generate(folder / "graphs", folder, namespace, "torch", setting)
            return library.linked([library.together(generated)], folder / f"{namespace}.so")

        torch.ops.load_library(str(installed.once(shared / namespace, compiled)))
        return getattr(torch.ops, namespace)

    return operators
