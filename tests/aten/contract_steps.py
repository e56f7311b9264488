"""Edits of torch's specs, one after the other, and which of ATen's files each writes, creates and deletes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

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
Names = Callable[[set[str]], set[str]]


class Moved(NamedTuple):
    """What an edit did to files, by name."""

    written: set[str]
    created: set[str]
    deleted: set[str]


class Step(NamedTuple):
    """An edit, and the names of the files that it writes, creates and deletes, or a function of all names."""

    title: str
    edit: Edit
    written: str | Names = ""
    created: str = ""
    deleted: str = ""

    def expected(self, names: set[str]) -> Moved:
        """What it does to the files with these names."""
        written = set(self.written.split()) if isinstance(self.written, str) else self.written(names)
        return Moved(written, set(self.created.split()), set(self.deleted.split()))


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


def of_dispatch_keys(names: set[str]) -> set[str]:
    """The files with the kernels of each dispatch key."""
    others = ("RegisterSchema", "RegisterBackendSelect", "RegisterFunctionalization")
    sources = {name for name in names if name.startswith("Register") and name.endswith(".cpp")}
    return {name for name in sources if not name.startswith(others)}


def of_functions(names: set[str]) -> set[str]:
    """The header with the functions of each operator."""
    return {name.replace("_ops.h", ".h") for name in names if name.startswith("ops/") and name.endswith("_ops.h")}


_OF_SCHEMA = (
    "Declarations.yaml RegisterSchema.cpp RegistrationDeclarations.h RedispatchFunctions.h OperatorsEverything.cpp "
)
_OF_NEW = f"{_OF_SCHEMA} RegisterFunctionalizationEverything.cpp VmapGeneratedPlumbing.h core/ATenOpList.cpp "
_OF_ROOT = f"{_OF_NEW} Functions.h NativeFunctions.h NativeMetaFunctions.h Operators.h core/aten_interned_strings.h "
_OF_COMPOSITE = "RegisterCompositeImplicitAutogradEverything.cpp RegisterCompositeImplicitAutograd_0.cpp "
_OF_CPU = "RegisterCPUEverything.cpp RegisterCPU_0.cpp RegisterCPU_1.cpp RegisterCPU_2.cpp RegisterCPU_3.cpp "
_OF_CUDA = "RegisterCUDAEverything.cpp RegisterCUDA_0.cpp "
_OF_PLAIN = (
    f"{_OF_ROOT} {_OF_COMPOSITE} CompositeImplicitAutogradFunctions_inl.h Operators_1.cpp"
    " RegisterFunctionalization_2.cpp"
)
_HEADERS_OF_PLAIN = (
    "ops/contract_plain.h ops/contract_plain_ops.h ops/contract_plain_native.h"
    " ops/contract_plain_compositeimplicitautograd_dispatch.h"
)

STEPS = (
    Step("a comment", replaced("- func: abs(Tensor self)", "# edited\n- func: abs(Tensor self)")),
    Step("a composite operator", appended(COMPOSITE), _OF_PLAIN, _HEADERS_OF_PLAIN),
    Step(
        "an operator with kernels",
        appended(WITH_KERNELS),
        f"{_OF_ROOT} {_OF_CPU} {_OF_CUDA} RegisterCompositeExplicitAutogradEverything.cpp"
        " RegisterCompositeExplicitAutograd_0.cpp CompositeExplicitAutogradFunctions_inl.h CPUFunctions_inl.h"
        " CUDAFunctions_inl.h CompositeViewCopyKernels.cpp MethodOperators.h core/TensorBody.h Operators_1.cpp"
        " RegisterFunctionalization_3.cpp",
        "ops/contract_kernels.h ops/contract_kernels_ops.h ops/contract_kernels_native.h"
        " ops/contract_kernels_cpu_dispatch.h ops/contract_kernels_cuda_dispatch.h"
        " ops/contract_kernels_compositeexplicitautograd_dispatch.h",
    ),
    Step(
        "an overload",
        appended(OVERLOAD),
        f"{_OF_NEW} {_OF_COMPOSITE} CompositeImplicitAutogradFunctions_inl.h Operators_2.cpp"
        " RegisterFunctionalization_0.cpp ops/add.h ops/add_native.h ops/add_ops.h",
        "ops/add_compositeimplicitautograd_dispatch.h",
    ),
    Step(
        "a structured operator",
        appended(TRIPLE),
        f"{_OF_ROOT} {_OF_CPU} {_OF_CUDA} RegisterCompositeExplicitAutogradNonFunctionalEverything.cpp"
        " RegisterCompositeExplicitAutogradNonFunctional_0.cpp RegisterMetaEverything.cpp RegisterMeta_0.cpp"
        " CompositeExplicitAutogradNonFunctionalFunctions_inl.h CPUFunctions_inl.h CUDAFunctions_inl.h"
        " MetaFunctions_inl.h CompositeViewCopyKernels.cpp Operators_3.cpp RegisterFunctionalization_0.cpp",
        "ops/contract_triple.h ops/contract_triple_ops.h ops/contract_triple_native.h ops/contract_triple_meta.h"
        " ops/contract_triple_cpu_dispatch.h ops/contract_triple_cuda_dispatch.h ops/contract_triple_meta_dispatch.h"
        " ops/contract_triple_compositeexplicitautogradnonfunctional_dispatch.h",
    ),
    Step("an operator deleted", replaced(COMPOSITE, ""), _OF_PLAIN, deleted=_HEADERS_OF_PLAIN),
    Step(
        "a default",
        replaced(f"{EMBEDDING}-1", f"{EMBEDDING}-2", NATIVE, DERIVATIVES),
        f"{_OF_SCHEMA} Operators_4.cpp ops/embedding.h ops/embedding_ops.h ops/embedding_native.h"
        " ops/embedding_compositeexplicitautograd_dispatch.h",
    ),
    Step(
        "a default of a structured operator",
        replaced(TRIPLE, TRIPLE.replace("int n=1", "int n=2")),
        f"{_OF_SCHEMA} Operators_3.cpp ops/contract_triple.h ops/contract_triple_ops.h"
        " ops/contract_triple_cpu_dispatch.h ops/contract_triple_cuda_dispatch.h ops/contract_triple_meta_dispatch.h"
        " ops/contract_triple_compositeexplicitautogradnonfunctional_dispatch.h",
    ),
    Step(
        "an argument renamed",
        replaced("- func: margin_ranking_loss(Tensor input1,", "- func: margin_ranking_loss(Tensor edited,"),
        f"{_OF_SCHEMA} {_OF_COMPOSITE} VmapGeneratedPlumbing.h core/aten_interned_strings.h Operators_4.cpp"
        " ops/margin_ranking_loss.h ops/margin_ranking_loss_ops.h ops/margin_ranking_loss_native.h"
        " ops/margin_ranking_loss_compositeimplicitautograd_dispatch.h",
    ),
    Step(
        "a kernel for another key",
        added_to("    CPU, CUDA, MPS: log_normal_", "    SparseCPU: log_normal_sparse_"),
        "RegisterSparseCPUEverything.cpp RegisterSparseCPU_0.cpp ops/log_normal_native.h",
    ),
    Step(
        "a kernel for a key with headers",
        added_to("    CUDA: _cslt_sparse_mm", "    CPU: _cslt_sparse_mm_cpu"),
        f"{_OF_CPU} CPUFunctions_inl.h ops/_cslt_sparse_mm_native.h",
        "ops/_cslt_sparse_mm_cpu_dispatch.h",
    ),
    Step(
        "a kernel goes",
        replaced("    CPU: _cslt_sparse_mm_cpu\n", ""),
        f"{_OF_CPU} CPUFunctions_inl.h ops/_cslt_sparse_mm_native.h",
        deleted="ops/_cslt_sparse_mm_cpu_dispatch.h",
    ),
    Step(
        "a kernel renamed",
        replaced("    CPU: embedding_renorm_cpu_\n", "    CPU: edited_\n"),
        "RegisterCPUEverything.cpp RegisterCPU_1.cpp ops/embedding_renorm_native.h",
    ),
    Step(
        "a structured kernel renamed",
        replaced("    CUDA: mm_out_cuda\n", "    CUDA: edited_cuda\n"),
        f"{_OF_CUDA} ops/mm_native.h",
    ),
    Step("a tag", added_to("  autogen: embedding_renorm, embedding_renorm.out", "  tags: core"), "RegisterSchema.cpp"),
    Step("a new tag", appended("- tag: contract_tag\n  desc: edited", TAGS), "core/enum_tag.h"),
    Step("device_check", added_to("  autogen: embedding_dense_backward.out", "  device_check: NoCheck"), _OF_CUDA),
    Step(
        "an entry moved",
        moved_to_the_end("pairwise_distance"),
        f"{_OF_NEW} {_OF_COMPOSITE} Operators_3.cpp RegisterFunctionalization_1.cpp",
    ),
    Step("the template of kernels", in_template("RegisterDispatchKey.cpp"), of_dispatch_keys),
    Step("the template of functions", in_template("Function.h"), of_functions),
)
