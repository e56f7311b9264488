"""Edits of torch's specs, one after the other."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from project import Project

NATIVE, DERIVATIVES, TAGS = "native_functions.yaml", "derivatives.yaml", "tags.yaml"
COMPOSITE = """
- func: contract_plain(Tensor self, int n=1) -> Tensor
"""
WITH_KERNELS = """
- func: contract_kernels(Tensor self) -> Tensor
  variants: function, method
  dispatch:
    CPU: contract_kernels_cpu
    CUDA: contract_kernels_cuda
  autogen: contract_kernels.out
"""
OVERLOAD = """
- func: add.contract(Tensor self, Tensor other, int n) -> Tensor
"""
TRIPLE = """
- func: contract_triple.out(Tensor self, int n=1, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: contract_triple_out_cpu
    CUDA: contract_triple_out_cuda

- func: contract_triple(Tensor self, int n=1) -> Tensor
  structured_delegate: contract_triple.out

- func: contract_triple_(Tensor(a!) self, int n=1) -> Tensor(a!)
  structured_delegate: contract_triple.out
"""
EMBEDDING = "embedding(Tensor weight, Tensor indices, SymInt padding_idx="

Edit = Callable[[Project], None]


def project_of_torch(folder: Path, torch_specs: Path, version: str) -> Project:
    """A copy of the spec set of the installed torch, with all templates, never built."""
    project = Project(folder, torch_specs, version, packaged=True, kernels=True)
    shutil.copytree(torch_specs / "ATen" / "templates", project.specs / "ATen" / "templates")
    return project


def replaced(old: str, new: str, *files: str) -> Edit:
    """Replaces a text that stands once in each of the files."""

    def edit(project: Project) -> None:
        for name in files or (NATIVE,):
            project.replace(name, old, new)

    return edit


def added_to(line: str, text: str) -> Edit:
    """Adds a line after one that stands once in native_functions.yaml."""
    return replaced(f"{line}\n", f"{line}\n{text}\n")


def appended(entries: str, name: str = NATIVE) -> Edit:
    return lambda project: project.append(name, entries)


def moved_to_the_end(function: str) -> Edit:
    """Moves an entry."""

    def edit(project: Project) -> None:
        path = project.path(NATIVE)
        before, start, rest = path.read_text().partition(f"- func: {function}(")
        entry, end, after = rest.partition("\n\n")
        assert start and end
        path.write_text(f"{before}{after.rstrip()}\n\n{start}{entry}\n")

    return edit


def in_template(name: str) -> Edit:
    """Adds a comment to the end of one of ATen's templates."""

    def edit(project: Project) -> None:
        with (project.specs / "ATen" / "templates" / name).open("a") as file:
            file.write("// edited\n")

    return edit


STEPS: dict[str, Edit] = {
    "a comment": replaced("- func: abs(Tensor self)", "# edited\n- func: abs(Tensor self)"),
    "a composite operator": appended(COMPOSITE),
    "an operator with kernels": appended(WITH_KERNELS),
    "an overload": appended(OVERLOAD),
    "a structured operator": appended(TRIPLE),
    "an operator deleted": replaced(COMPOSITE, ""),
    "a default": replaced(f"{EMBEDDING}-1", f"{EMBEDDING}-2", NATIVE, DERIVATIVES),
    "a default of a structured operator": replaced(TRIPLE, TRIPLE.replace("int n=1", "int n=2")),
    "an argument renamed": replaced(
        "- func: margin_ranking_loss(Tensor input1,", "- func: margin_ranking_loss(Tensor edited,"
    ),
    "a kernel for another key": added_to("    CPU, CUDA, MPS: log_normal_", "    SparseCPU: log_normal_sparse_"),
    "a kernel for a key with headers": added_to("    CUDA: _cslt_sparse_mm", "    CPU: _cslt_sparse_mm_cpu"),
    "a kernel goes": replaced("    CPU: _cslt_sparse_mm_cpu\n", ""),
    "a kernel renamed": replaced("    CPU: embedding_renorm_cpu_\n", "    CPU: edited_\n"),
    "a structured kernel renamed": replaced("    CUDA: mm_out_cuda\n", "    CUDA: edited_cuda\n"),
    "a tag": added_to("  autogen: embedding_renorm, embedding_renorm.out", "  tags: core"),
    "a new tag": appended("- tag: contract_tag\n  desc: edited", TAGS),
    "device_check": added_to("  autogen: embedding_dense_backward.out", "  device_check: NoCheck"),
    "an entry moved": moved_to_the_end("pairwise_distance"),
    "the template of kernels": in_template("RegisterDispatchKey.cpp"),
    "the template of functions": in_template("Function.h"),
}
