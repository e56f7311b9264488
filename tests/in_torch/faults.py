"""Faults put into the text of kernels, each of which the comparison has to notice.

The kernels are generated again in many short files. Those with faults become a library that stands on the one without:
what is registered last counts.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from cpp.toolchain import link_flags

from in_torch.library import CPU, including, link, module_command, unit_command
from in_torch.sources import Sources, short_shards


class Fault(NamedTuple):
    """A change in one kernel, and the operator of torch's samples that shows it."""

    family: str
    kernel: str
    old: str
    new: str
    operator: str


FAULTS = [
    Fault("VariableType", "exp", "SavedVariable(result, true)", "SavedVariable(result * 2, false)", "exp"),
    Fault("VariableType", "sin_", "rebase_history(", "(void)(", "sin"),
    Fault("VariableType", "clamp", "grad_fn->min = min;", "", "clamp"),
    Fault("VariableType", "lerp_Tensor", "_set_fw_grad(", "_set_fw_grad(2 * ", "lerp"),
    Fault("VariableType", "gather", "grad_fn->dim = dim;", "grad_fn->dim = 0;", "gather"),
    Fault("VariableType", "masked_fill__Scalar", "check_inplace(self, _any_requires_grad);", "", "masked_fill"),
    Fault("ADInplaceOrView", "expand", "is_bw_differentiable */ true", "is_bw_differentiable */ false", "expand"),
    Fault("ADInplaceOrView", "atan_", "increment_version(self);", "", "atan"),
]


def record(folder: Path, sources: Sources) -> tuple[Path, Path]:
    """The answers of the operators with faults, and of torch's: files."""
    link(folder, sources, CPU)
    faulty = [_written(folder, path, text) for path, text in _planted(short_shards(folder)).items()]
    source, library = folder / "faults.cpp", folder / "faults.so"
    source.write_text(including(faulty))
    subprocess.run([*unit_command(sources), str(source), "-o", f"{source}.o"], cwd=folder, check=True)
    own = [str(folder / CPU.name), f"-Wl,-rpath,{folder}"]
    subprocess.run(["c++", f"{source}.o", "-o", str(library), *own, *link_flags()], check=True)
    only = ["--only", *sorted({fault.operator for fault in FAULTS})]
    for words in (["faults", "--library", str(library)], ["right"]):
        out = str(folder / f"{words[0]}.record")
        command = [*module_command("record"), "--out", out, *words[1:], *only]
        subprocess.run(command, check=True, capture_output=True)
    return folder / "faults.record", folder / "right.record"


def _planted(shards: list[Path]) -> dict[Path, str]:
    """The files that change, with their new text."""
    texts = {path: path.read_text() for path in shards}
    changed: dict[Path, str] = {}
    for fault in FAULTS:
        kernel = re.compile(rf"^[^\s}}][^\n]* {fault.kernel}\(c10::DispatchKeySet .*?^\}}$", re.MULTILINE | re.DOTALL)
        for path in shards:
            text = changed.get(path, texts[path])
            if path.name.startswith(fault.family) and (match := kernel.search(text)):
                assert fault.old in match.group(), fault
                faulty = match.group().replace(fault.old, fault.new)
                changed[path] = text[: match.start()] + faulty + text[match.end() :]
                break
        else:
            raise AssertionError(f"no kernel for {fault}")
    return changed


def _written(folder: Path, path: Path, text: str) -> Path:
    """A file beside which there are no headers: those of the library are the ones that are found."""
    faulty = folder / f"faulty_{path.name}"
    faulty.write_text(text)
    return faulty
