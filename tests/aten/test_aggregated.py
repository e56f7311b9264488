"""ATen's files of builds where operators have no headers of their own, as of Bazel and Buck: `operator_headers=0`."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import Project
from torchgen_gen import run_gen

from aten.conftest import FOLDER, generated
from gradmill.releases import resolve

TYPES = ("--generate", "headers", "sources")
FORM = {"families": "headers,sources", "operator_headers": 0}
RENAMED = "    CUDA: odd_repeated\n", "    CUDA: odd_renamed\n"
MOVED = "    CPU: odd_shared\n    CUDA: odd_re", "    CPU: odd_first\n    CUDA: odd_re"


def written(project: Project) -> dict[str, bytes]:
    """The files, without those of AOTInductor, whose lists the set lacks."""
    return generated(project, **FORM)


def by_torchgen(project: Project, folder: Path, types: tuple[str, ...] = TYPES) -> dict[str, bytes]:
    """The same of torchgen.gen."""
    folder.mkdir()
    files = run_gen(project.specs / "ATen", folder, *types).files
    return {name: data for name, data in files.items() if "c_shim" not in name}


@pytest.fixture
def odd(aten: Project) -> Project:
    """The set with functions of all kinds."""
    entries = aten.path("native_functions.yaml")
    texts = [(FOLDER / name).read_text() for name in ("kernels.yaml", "repeated.yaml", "elsewhere.yaml")]
    # As in test_kernels.py, kernels are first.
    entries.write_text("\n".join([*texts[:2], entries.read_text(), texts[2]]))
    return aten


def test_odd_functions_equal_torchgens(odd: Project, tmp_path: Path) -> None:
    files, expected = written(odd), by_torchgen(odd, tmp_path / "gen")
    assert {name for name in expected if files.get(name) != expected[name]} == set()
    assert files.keys() == expected.keys()
    assert files["NativeFunctions.h"].count(b"odd_shared(const at::Tensor & self, int64_t k)") == 1
    assert b"namespace within {" in files["NativeFunctions.h"]


PLACED = {
    "in one other namespace": "- func: odd(Tensor self) -> Tensor\n  dispatch: {CPU: own::odd, Meta: own::odd}\n",
    "in several": (
        "- func: odd(Tensor self) -> Tensor\n  dispatch: {CPU: own::odd}\n\n"
        "- func: even(Tensor self) -> Tensor\n  dispatch: {CPU: more::even}\n"
    ),
    "in the usual one, for the second overload alone": (
        "- func: odd(Tensor self) -> Tensor\n  dispatch: {CUDA: odd}\n\n"
        "- func: odd.more(Tensor self, int more) -> Tensor\n  dispatch: {CPU: odd_more}\n"
    ),
    "nowhere": "[]\n",
}


@pytest.mark.parametrize("where", PLACED)
def test_headers_of_kernels_by_namespace_equal_torchgens(aten: Project, tmp_path: Path, where: str) -> None:
    aten.path("native_functions.yaml").write_text(PLACED[where])
    aten.path("derivatives.yaml").write_text("[]\n")
    # With sources, torchgen also knows keys without kernels when it writes headers.
    files, expected = written(aten), by_torchgen(aten, tmp_path / "gen", ("--generate", "headers"))
    assert {name for name in expected if files.get(name) != expected[name]} == set()


def test_an_edit_writes_what_prints_it(odd: Project, tmp_path: Path) -> None:
    written(odd)
    odd.replace("native_functions.yaml", *RENAMED)
    run = odd.run(**FORM)
    assert set(run.shards) == {f"ATen/{name}" for name in ("NativeFunctions.h", *_of_key("CUDA"))}
    odd.replace("native_functions.yaml", *MOVED)  # another function is then the first to declare the kernel
    assert odd.run(**FORM).status == 0
    files, expected = written(odd), by_torchgen(odd, tmp_path / "gen")
    assert {name for name in expected if files.get(name) != expected[name]} == set()


def _of_key(key: str) -> tuple[str, ...]:
    return f"Register{key}_0.cpp", f"Register{key}Everything.cpp"


def test_another_form_replaces_the_files_of_the_first(odd: Project) -> None:
    first = generated(odd, families="headers,sources")
    assert any(name.startswith("ops/") for name in first)
    other = written(odd)
    assert not any(name.startswith("ops/") for name in other)
    assert generated(odd, families="headers,sources") == first


@pytest.mark.parametrize(("family", "form"), [("kernel_headers", 0), ("aggregated_headers", 1)])
def test_a_family_of_the_other_form_is_refused(aten: Project, family: str, form: int) -> None:
    run = aten.run(families=family, operator_headers=form)
    assert (run.status, f"'{family}' is only generated with operator_headers={1 - form}" in run.stderr) == (3, True)


def test_since_2_15_the_macro_of_a_kernel_is_that_of_a_library_that_all_builds_have(aten: Project) -> None:
    listed = {"first": "CUDA: merged", "second": "CPU: merged", "alone": "CUDA: own"}
    # Other kernels that this release expects.
    listed |= {f"other{i}": f"CUDA: {name}" for i, name in enumerate(sorted(resolve("2.15").cpu_library_kernels))}
    entries = (f"- func: {name}(Tensor self) -> Tensor\n  dispatch: {{{row}}}\n" for name, row in listed.items())
    aten.path("native_functions.yaml").write_text("\n".join(entries))
    aten.path("derivatives.yaml").write_text("[]\n")
    (aten.specs / "RELEASE").write_text("2.15.0\n")
    files = generated(aten, families="aggregated_headers", operator_headers=0)
    declared = files["NativeFunctions.h"].decode().splitlines()
    assert [line for line in declared if "merged" in line] == ["TORCH_API at::Tensor merged(const at::Tensor & self);"]
    assert "TORCH_CUDA_CPP_API at::Tensor own(const at::Tensor & self);" in declared


@pytest.mark.parametrize("type_", ["declarations_yaml", "backend_select"])
def test_since_2_15_kernels_that_torchgen_expects_are_missed_whatever_is_written(aten: Project, type_: str) -> None:
    (aten.specs / "RELEASE").write_text("2.15.0\n")
    run = aten.run(families=type_)
    assert (run.status, "no function has these kernels for CUDA" in run.stderr) == (1, True)


def test_another_error_is_not_hidden_by_the_kernels_that_torchgen_expects(aten: Project) -> None:
    (aten.specs / "RELEASE").write_text("2.15.0\n")
    aten.append("native_functions.yaml", "\n- func: zz(Tensor self) -> Tensor\n  tags: generated\n")
    run = aten.run(families="backend_select")
    assert "'zz' is tagged generated" in run.stderr
    assert run.stderr.count("error: ") == 1
