"""ATen's generated files compile before torch's own headers, and what of them an edit recompiles."""

from __future__ import annotations

import re
import subprocess
from importlib import metadata
from pathlib import Path

import pytest
from cpp import toolchain
from never_wrong.builds import clean_build
from project import files_in

from aten.contract_steps import STEPS, project_of_torch

VERSION = "2.13.0"
_USE = "at::Tensor twice(const at::Tensor& self) { return at::add(self, self); }\n"
SOURCES = {
    "one operator": f"#include <ATen/core/Tensor.h>\n#include <ATen/ops/add.h>\n{_USE}",
    "all operators": f"#include <ATen/ATen.h>\n{_USE}",
    "kernels": "#include <ATen/RegisterCPU_0.cpp>\n",
    "dispatch": "#include <ATen/Operators_0.cpp>\n",
}
RECOMPILED = {  # of these, by edit: ATen.h includes the headers of kernels, too
    "a comment": "",
    "a composite operator": "all operators",
    "an operator with kernels": "all operators, dispatch, kernels, one operator",  # it is a method of tensors
    "an overload": "all operators, dispatch, kernels, one operator",  # of `add`
    "a structured operator": "all operators, kernels",
    "an operator deleted": "all operators",
    "a default": "all operators",
    "a default of a structured operator": "",  # not in the first build
    "an argument renamed": "all operators",
    "a kernel for another key": "all operators, kernels",
    "a kernel for a key with headers": "all operators, kernels",
    "a kernel goes": "all operators, kernels",
    "a kernel renamed": "all operators, kernels",
    "a structured kernel renamed": "all operators, kernels",
    "a tag": "",
    "a new tag": "dispatch, kernels",
    "device_check": "",
    "an entry moved": "",
    "the template of kernels": "kernels",
    "the template of functions": "all operators, dispatch, kernels, one operator",
}

pytestmark = [
    pytest.mark.slow(60),
    pytest.mark.skipif(not metadata.version("torch").startswith(VERSION), reason=f"the edits are of {VERSION}"),
]


def test_an_edit_recompiles_what_includes_a_changed_file(tmp_path: Path, torch_specs: Path) -> None:
    if reason := toolchain.missing():
        pytest.skip(reason)
    project, build = project_of_torch(tmp_path, torch_specs, metadata.version("torch")), tmp_path / "build"
    assert clean_build(project.specs, build, families="aten").accepted
    generated = build / "generated"
    included = {
        name: _included(tmp_path / f"{name.replace(' ', '_')}.cpp", text, generated) for name, text in SOURCES.items()
    }
    names, found = set(files_in(generated / "ATen")), {}
    for step in STEPS:
        moved = step.expected(names)
        changed = moved.written | moved.deleted
        found[step.title] = ", ".join(sorted(name for name, files in included.items() if files & changed))
    assert found == RECOMPILED


def _included(path: Path, text: str, generated: Path) -> set[str]:
    """Compiles a source, without an object; the generated files that it includes, by the compiler's depfile."""
    path.write_text(text)
    flags = ["-w", "-fsyntax-only", "-DAT_PER_OPERATOR_HEADERS", "-MD", "-MF", "depfile"]
    command = ["c++", *toolchain.compile_flags(generated), *flags, path]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    words = re.findall(r"[^\s\\]+", (path.parent / "depfile").read_text())
    within = f"{generated / 'ATen'}/"
    return {word.removeprefix(within) for word in words if word.startswith(within)}
