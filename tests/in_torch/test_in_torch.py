"""The generated kernels in torch itself; see tests/in_torch. The comparison, which shows differences that are there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cpp import toolchain
from project import CORE, ROOT, Project

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'gradmill[test]'")

from cpp.cases import cases  # noqa: E402

from in_torch import calls, differences, faults, kernels, sources  # noqa: E402

WITHOUT_CASE = {  # Nodes of core, and why there is nothing to compare
    "GeqrfBackward0": "not implemented, here and in torch",
    "WeightedNormsBackward0": "an operator of the core spec set that has no formula",
    "SumBackwardAutogradNestedTensor0": "of nested tensors",
}


@pytest.fixture(scope="module")
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the next run finds again."""
    if reason := toolchain.missing("ninja"):
        pytest.skip(reason)
    cache = getattr(request.config, "cache", None)
    return Path(cache.mkdir("in_torch")) if cache is not None else tmp_path_factory.mktemp("in_torch")


def test_each_node_of_core_has_a_case(tmp_path: Path) -> None:
    project = Project(tmp_path, CORE, "2.13.0")
    rows = [row for stage in ("infos", "foreach") for row in project.run("show", stage, specs="core").rows]
    nodes = {row["op"] for row in rows if row.get("op")}
    assert nodes - {case.node for case in cases()} == WITHOUT_CASE.keys()


@pytest.mark.campaign
def test_core_kernels_give_what_torchs_give(folder: Path) -> None:
    """In the place of torch's and on a toy device; faults in them are noticed. All with the same objects."""
    assert_equal(folder)
    assert_equal(folder, "--device", "toy", "--samples", "1", "--quick")
    ours, right = faults.record(folder, sources.core(folder))
    compared = differences.compare(differences.load([ours]), differences.load([right]), {})
    wrong = {difference.operator for difference in compared.different}
    assert wrong == {f"torch {fault.operator}" for fault in faults.FAULTS}


def assert_equal(folder: Path, *words: str) -> None:
    command = [sys.executable, "-m", "tests.campaigns", "in_torch", "--folder", str(folder), *words]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def record(function: calls.Function, inplace: calls.Function | None = None) -> differences.Record:
    """What is written down of one call, as if one of our kernels had run."""
    changing = calls.changing(inplace) if inplace is not None else None
    call = calls.Call("0", [leaf(1, 2, 3)], function, changing, checked=True)
    answers = {f"0, {question}": answer for question, answer in calls.answers(call)}
    return {"operator": {"answers": answers, "ran": {("VariableType", "operator")}}}


def asked(ours: differences.Record, stock: differences.Record) -> set[str]:
    """What was answered differently."""
    return {difference.what for difference in differences.compare(ours, stock, {}).different}


def test_records_of_the_same_function_are_equal() -> None:
    one, two = (record(torch.exp, torch.Tensor.exp_) for _ in range(2))
    compared = differences.compare(one, two, {})
    assert not compared.different
    assert compared.equal == compared.asked
    assert {
        "value",
        "gradients",
        "second gradients",
        "tangents",
        "in place, leaf",
        "in place, value",
    } <= compared.asked.keys()


class Faulty(torch.autograd.Function):
    """The exponential, with a gradient that is twice what it should be."""

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x.exp()

    @staticmethod
    def setup_context(
        ctx: torch.autograd.function.FunctionCtx, inputs: tuple[torch.Tensor], output: torch.Tensor
    ) -> None:
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, grad: torch.Tensor) -> torch.Tensor:
        return grad * ctx.saved_tensors[0] * 2

    @staticmethod
    def jvp(ctx: torch.autograd.function.FunctionCtx, tangent: torch.Tensor) -> torch.Tensor:
        return tangent * ctx.saved_tensors[0]


def test_a_wrong_gradient_is_a_difference() -> None:
    assert asked(record(Faulty.apply), record(torch.exp)) == {
        "gradients",
        "second gradients",
        "gradcheck",
        "gradgradcheck",
    }


def test_a_wrong_tangent_is_a_difference() -> None:
    assert asked(record(lambda x: x.exp()), record(lambda x: x.exp() + x.detach() * 0)) == set()
    assert "tangents" in asked(record(lambda x: x * 2), record(lambda x: x + x.detach()))


def test_a_view_that_is_none_is_a_difference() -> None:
    assert asked(record(lambda x: x[1:].clone()), record(lambda x: x[1:])) == {"view"}


def test_another_error_is_a_difference() -> None:
    def fails(message: str) -> calls.Function:
        def function(x: torch.Tensor) -> torch.Tensor:
            raise RuntimeError(message)

        return function

    assert "value" in asked(record(fails("one")), record(fails("another")))
    assert not asked(record(fails("at 0x12ab")), record(fails("at 0x34cd")))


def test_a_missing_answer_is_a_difference() -> None:
    assert "in place, leaf" in asked(record(torch.exp), record(torch.exp, torch.Tensor.exp_))


SHARD = """\
at::Tensor exp(c10::DispatchKeySet ks, const at::Tensor & self) {
}
at::Tensor alias(c10::DispatchKeySet ks, const at::Tensor & self) {
  auto result = as_view(self);
}
TORCH_LIBRARY_IMPL(aten, ADInplaceOrView, m) {
  m.impl("exp_", TORCH_FN(ADInplaceOrView::exp));
  m.impl("alias", TORCH_FN(ADInplaceOrView::alias));
}
TORCH_LIBRARY_IMPL(aten, Autograd, m) {
m.impl("exp", TORCH_FN(VariableType::exp));
m.impl("isnan.out", torch::autograd::autogradNotImplementedFallback());
}
"""


def test_what_a_file_registers_is_expected(tmp_path: Path) -> None:
    path = tmp_path / "shard.cpp"
    path.write_text(SHARD)
    expected = kernels.Expected.of([path])
    assert expected.keys == {"ADInplaceOrView": 2, "Autograd": 2}
    assert expected.kernels == {("ADInplaceOrView", "exp"), ("views", "alias"), ("VariableType", "exp")}


def test_templates_of_kernels_have_upstreams_placeholders() -> None:
    for name, placeholders in {
        "VariableType.cpp": ["type_derived_method_definitions", "wrapper_registrations"],
        "ADInplaceOrViewType.cpp": ["inplace_or_view_method_definitions", "inplace_or_view_wrapper_registrations"],
        "ViewFuncs.h": ["view_func_declarations"],
        "ViewFuncs.cpp": ["view_func_definitions"],
        "TraceType.cpp": ["trace_method_definitions", "trace_wrapper_registrations"],
    }.items():
        text = (CORE / "templates" / name).read_text()
        assert all(f"${{{placeholder}}}" in text for placeholder in [*placeholders, "generated_comment"])
