"""The header that all graphs share has the types of the release that it is for."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from cpp import toolchain

from gradmill.extensions.graphs.print.files import RUNTIME, support_text
from gradmill.releases import resolve


@pytest.mark.parametrize(
    ("version", "pointer"),
    [("2.12", "std::shared_ptr"), ("2.13", "c10::intrusive_ptr"), ("2.15", "c10::intrusive_ptr")],
)
def test_the_header_has_the_pointers_of_its_release_and_no_marks(version: str, pointer: str) -> None:
    text = support_text(RUNTIME, resolve(version))
    assert f"using NodePointer = {pointer}<Of>;" in text
    assert not any(line.startswith(("////", "//<", "//>")) for line in text.splitlines())


@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ("2.9", ["generated for PyTorch 2.13, but the headers are those of PyTorch 2.9: compile with those of 2.13"]),
        ("2.12", ["generated for PyTorch 2.13, but the headers are those of PyTorch 2.12: compile with those of 2.13"]),
        ("2.13", []),
        ("2.14", []),
    ],
)
def test_headers_of_an_older_release_are_one_error_that_names_both(
    headers: str, message: list[str], tmp_path: Path
) -> None:
    version = tmp_path / "torch" / "csrc" / "api" / "include" / "torch" / "version.h"
    version.parent.mkdir(parents=True)
    major, _, number = headers.partition(".")
    version.write_text(f"#define TORCH_VERSION_MAJOR {major}\n#define TORCH_VERSION_MINOR {number}\n")
    text = support_text(RUNTIME, resolve("2.13"))
    own = text.partition("#include <ATen/ATen.h>")[0]  # what is before any other header
    (tmp_path / "graph.h").write_text(f"{own}here\n")
    command = ["c++", "-E", f"-I{tmp_path}", str(tmp_path / "graph.h")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert re.findall(r'error: #?(?:error )?"(.*)"', ended.stderr) == message
    assert ("here" in ended.stdout) == (message == [])
