"""What an edit changes among ATen's files: those written are exactly those that differ, and are torchgen's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest
from front.test_generate_code import Checkout, make
from front.test_torchgen import ALL, ATEN, NATIVE, TAGS, with_keys
from project import Project
from torchgen_gen import INSTALL, Generated, shared_gen

PLAIN = """\
- func: plain(Tensor self, int dim=0) -> Tensor
"""
OF_KEYS = """
- func: of_keys(Tensor self, int dim=0) -> Tensor
  dispatch:
    CompositeExplicitAutograd: of_keys
"""
NEW = "\n- func: new(Tensor self) -> Tensor\n"
OVERLOAD = "\n- func: of_keys.other(Tensor self, Tensor other) -> Tensor\n"
WITH_KERNELS = """
- func: both(Tensor self) -> Tensor
  variants: function, method
  dispatch:
    CPU: both_cpu
    CUDA: both_cuda
  autogen: both.out
"""
TRIPLE = """
- func: three(Tensor self) -> Tensor
  structured_delegate: three.out

- func: three_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: three.out

- func: three.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA: three_out
"""
CEA, CIA, CEANF = "CompositeExplicitAutograd", "CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional"
OF_ALL = ("RedispatchFunctions.h", "RegistrationDeclarations.h")
OF_SCHEMAS = ("VmapGeneratedPlumbing.h", "core/aten_interned_strings.h")
LISTS = ("Functions.h", "Operators.h", "NativeFunctions.h", "NativeMetaFunctions.h")
METHODS = ("core/TensorBody.h", "MethodOperators.h")


def of(root: str, *kinds: str) -> tuple[str, ...]:
    """Headers of an operator: that of its functions, its structs and its kernels, and others."""
    ends = ("", "_ops", "_native", *(f"_{kind.lower()}" for kind in kinds))
    return tuple(f"ops/{root}{end}.h" for end in ends)


def inline(*keys: str) -> tuple[str, ...]:
    """The lists of the headers of these keys."""
    return tuple(f"{key}Functions_inl.h" for key in keys)


class Edit(NamedTuple):
    """A text in native_functions.yaml and its new form, and the headers that are then written, or deleted."""

    what: str
    old: str
    new: str
    written: Iterable[str] = ()
    deleted: Iterable[str] = ()
    place: str = NATIVE


_NEW = (*of("new", f"{CIA}_dispatch"), *inline(CIA), *LISTS, *OF_ALL, *OF_SCHEMAS)
_OVERLOAD = (*of("of_keys", f"{CIA}_dispatch"), *inline(CIA), *OF_ALL, *OF_SCHEMAS)
EDITS = (
    Edit("a comment", PLAIN, f"# A comment.\n{PLAIN}"),
    Edit("a new operator", OF_KEYS, NEW + OF_KEYS, _NEW),
    Edit("an operator moves", NEW + OF_KEYS, OF_KEYS + NEW, (*OF_ALL, OF_SCHEMAS[0])),
    Edit("an operator goes", NEW, "", {*_NEW} - {*of("new", f"{CIA}_dispatch")}, of("new", f"{CIA}_dispatch")),
    Edit(
        "a new operator with kernels, a method and an out variant",
        OF_KEYS,
        WITH_KERNELS + OF_KEYS,
        (
            *of("both", "cpu_dispatch", "cuda_dispatch", f"{CEA}_dispatch"),
            *inline("CPU", "CUDA", CEA),
            *LISTS,
            *METHODS,
            *OF_ALL,
            *OF_SCHEMAS,
        ),
    ),
    Edit("a new overload", OF_KEYS, OF_KEYS + OVERLOAD, {*_OVERLOAD} - {"core/aten_interned_strings.h"}),
    Edit(
        "a new structured operator",
        OF_KEYS,
        TRIPLE + OF_KEYS,
        (
            *of("three", "meta", *(f"{key}_dispatch" for key in ("cpu", "cuda", "meta", CEANF))),
            *inline("CPU", "CUDA", "Meta", CEANF),
            *LISTS,
            *OF_ALL,
            *OF_SCHEMAS,
        ),
    ),
    Edit(
        "a default",
        "of_keys(Tensor self, int dim=0)",
        "of_keys(Tensor self, int dim=1)",
        (*of("of_keys", f"{CEA}_dispatch"), *OF_ALL),
    ),
    Edit(
        "an argument's name",
        "plain(Tensor self, int dim=0)",
        "plain(Tensor self, int axis=0)",
        (*of("plain", f"{CIA}_dispatch"), *OF_ALL, *OF_SCHEMAS),
    ),
    Edit(
        "a kernel for a key without headers",
        "    CUDA: both_cuda\n",
        "    CUDA: both_cuda\n    SparseCPU: both_s\n",
        ("ops/both_native.h",),
    ),
    Edit(
        "a kernel for a key with headers",
        "    SparseCPU: both_s\n",
        "    Meta: both_meta\n    SparseCPU: both_s\n",
        ("ops/both_native.h", "ops/both_meta_dispatch.h", *inline("Meta")),
    ),
    Edit(
        "a kernel goes",
        "    Meta: both_meta\n",
        "",
        ("ops/both_native.h", *inline("Meta")),
        ("ops/both_meta_dispatch.h",),
    ),
    Edit("a kernel's name", "both_cpu", "another_cpu", ("ops/both_native.h",)),
    Edit("the name of a structured kernel", "three_out\n", "another_out\n", ("ops/three_native.h",)),
    Edit("a tag of an operator", "  autogen: both.out\n", "  autogen: both.out\n  tags: core\n"),
    Edit("a device check", "  autogen: both.out\n", "  autogen: both.out\n  device_check: NoCheck\n"),
    Edit(
        "a new tag",
        "- tag: core\n",
        "- tag: a_new_one\n  desc: A tag.\n\n- tag: core\n",
        ("core/enum_tag.h",),
        place=TAGS,
    ),
)
_IN_ORDER = "ATenOpList Declarations Operators RegisterFunctionalization RegisterSchema"
_KERNELS = f"{_IN_ORDER} CompositeViewCopyKernels RegisterCPU RegisterCUDA"
SOURCES = {  # what is edited -> the other files that are written, without the numbers of shards
    "a new operator": f"{_IN_ORDER} Register{CIA}",
    "an operator moves": _IN_ORDER,
    "an operator goes": f"{_IN_ORDER} Register{CIA}",
    "a new operator with kernels, a method and an out variant": f"{_KERNELS} Register{CEA}",
    "a new overload": f"{_IN_ORDER} Register{CIA}",
    "a new structured operator": f"{_KERNELS} Register{CEANF} RegisterMeta",
    "a default": "Declarations Operators RegisterSchema",
    "an argument's name": f"Declarations Operators Register{CIA} RegisterSchema",
    "a kernel for a key without headers": "RegisterSparseCPU",
    "a kernel for a key with headers": "RegisterMeta",
    "a kernel goes": "RegisterMeta",
    "a kernel's name": "RegisterCPU",
    "the name of a structured kernel": "RegisterCPU RegisterCUDA",
    "a tag of an operator": "RegisterSchema",
    "a device check": "RegisterCUDA",
}
_SOURCE = re.compile(r"(?:core/)?(\w+?)(?:_\d+|Everything)?\.(?:cpp|yaml)")


@pytest.fixture
def checkout(tiny_built: Project, torch_specs: Path, tmp_path: Path) -> Checkout:
    made = with_keys(make(tmp_path / "pytorch", tiny_built.path, torch_specs))
    with (made.root / NATIVE).open("a") as file:
        file.write("\n" + PLAIN + OF_KEYS)
    return made


def files(checkout: Checkout) -> dict[str, bytes]:
    return Generated(checkout.root).files


def times(checkout: Checkout) -> dict[str, int]:
    return {name: (checkout.root / INSTALL / name).stat().st_mtime_ns for name in files(checkout)}


def generate(checkout: Checkout) -> None:
    run = checkout.run("torchgen", *ALL)
    assert run.status == 0, run.stderr


def apply(checkout: Checkout, edit: Edit) -> None:
    path = checkout.root / edit.place
    text = path.read_text()
    assert text.count(edit.old) == 1, edit.what
    path.write_text(text.replace(edit.old, edit.new))


def test_an_edit_writes_what_differs(checkout: Checkout, shared: Path) -> None:
    generate(checkout)
    for edit in EDITS:
        before, then = files(checkout), times(checkout)
        apply(checkout, edit)
        generate(checkout)
        after, now = files(checkout), times(checkout)
        written = {name for name, time in now.items() if then.get(name) != time}
        assert written == {name for name, data in after.items() if before.get(name) != data}, edit.what
        sources = {match[1] for name in written if (match := _SOURCE.fullmatch(name))}
        assert sources == {*SOURCES.get(edit.what, "").split()}, edit.what
        headers = {name for name in written if name.endswith(".h")}
        assert (headers, before.keys() - after.keys()) == ({*edit.written}, {*edit.deleted}), edit.what
    assert files(checkout) == shared_gen(shared, checkout.root / ATEN, *ALL[:1]).files


def test_a_default_of_one_of_three_variants_is_an_error(checkout: Checkout) -> None:
    generate(checkout)
    then = times(checkout)
    apply(
        checkout,
        Edit(
            "",
            "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1)",
            "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=2)",
        ),
    )
    run = checkout.run("torchgen", *ALL)
    assert (run.status, "add" in run.stderr) == (1, True)
    assert times(checkout) == then


def test_a_template_rewrites_what_is_made_from_it(checkout: Checkout) -> None:
    generate(checkout)
    then = times(checkout)
    apply(checkout, Edit("", "#pragma once\n", "#pragma  once\n", place=f"{ATEN}/templates/Function.h"))
    generate(checkout)
    roots = {name for name in then if f"{name.removesuffix('.h')}_ops.h" in then}
    assert {name for name, time in times(checkout).items() if then[name] != time} == roots
