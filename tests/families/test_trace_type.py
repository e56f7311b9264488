"""The kernels of TraceType: which functions have them, how they record a call, how releases differ."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.families.family import DEFINITION, Layout
from pipeline.families.trace_type.files import TRACE_TYPE
from pipeline.families.trace_type.plan import Guard, Recording, TracePlan
from pipeline.grammar.schema import SchemaParser
from pipeline.model.native import NativeFunction
from pipeline.model.units import Unit
from pipeline.releases import resolve
from pipeline.rules.native.heads import head_of

KEYS = "ks & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::Tracer)"


def function(func: str, version: str = "2.13", **fields: Any) -> NativeFunction:
    return NativeFunction(SchemaParser(frozenset(resolve(version).base_types)).parse(func), **fields)


def plan(func: str, version: str = "2.13", **fields: Any) -> TracePlan:
    planned: TracePlan = TRACE_TYPE.plan(function(func, version, **fields), resolve(version))
    return planned


def recording(func: str, version: str = "2.13", **fields: Any) -> Recording:
    planned = plan(func, version, **fields).recording
    assert planned is not None
    return planned


def kernel(func: str, version: str = "2.13") -> str:
    return TRACE_TYPE.render(plan(func, version), resolve(version))[DEFINITION]


def test_a_function_is_recorded_called_and_its_result_recorded() -> None:
    assert kernel("relu(Tensor self) -> Tensor") == (
        "at::Tensor relu(c10::DispatchKeySet ks, const at::Tensor & self) {\n"
        "  torch::jit::Node* node = nullptr;\n"
        "  std::shared_ptr<jit::tracer::TracingState> tracer_state;\n"
        "  if (jit::tracer::isTracing()) {\n"
        "    tracer_state = jit::tracer::getTracingState();\n"
        "    at::Symbol op_name;\n"
        '    op_name = c10::Symbol::fromQualString("aten::relu");\n'
        "    node = tracer_state->createNode(op_name, /*num_outputs=*/0);\n"
        "    jit::tracer::recordSourceLocation(node);\n"
        '    jit::tracer::addInputs(node, "self", self);\n'
        "    tracer_state->insertNode(node);\n"
        "\n"
        "    jit::tracer::setTracingState(nullptr);\n"
        "  }\n"
        f"  auto result =at::_ops::relu::redispatch({KEYS}, self);\n"
        "  if (tracer_state) {\n"
        "    jit::tracer::setTracingState(std::move(tracer_state));\n"
        "    jit::tracer::addOutput(node, result);\n"
        "  }\n"
        "  return result;\n"
        "}\n"
    )


@pytest.mark.parametrize(
    "func",
    [
        "sym_size.int(Tensor self, int dim) -> SymInt",
        "odd(Tensor self, Storage source) -> Tensor",
        "conv1d(Tensor input, Tensor weight) -> Tensor",
        "_coalesced_(Tensor(a!) self, bool coalesced) -> Tensor(a!)",
    ],
)
def test_these_are_called_without_recording(func: str) -> None:
    assert plan(func).recording is None
    assert "tracer" not in kernel(func)


def test_a_function_that_returns_nothing_returns_nothing() -> None:
    assert kernel("odd(Tensor self, *, Tensor(a!)[] out) -> ()").endswith(", self, out);\n}\n")


@pytest.mark.parametrize("name", ["copy_(Tensor(a!) self) -> Tensor(a!)", "_version(Tensor self) -> int"])
def test_handwritten_kernels_are_not_generated(name: str) -> None:
    assert not TRACE_TYPE.selects(head_of(function(name), layered=False), resolve("2.13"))


def test_an_in_place_function_is_recorded_under_either_name() -> None:
    record = recording("relu_(Tensor(a!) self) -> Tensor(a!)")
    assert record.names == ("relu", "relu_")
    assert record.guard == Guard("relu_", "self")
    assert "if (tracer_state->force_outplace) {\n      op_name" in kernel("relu_(Tensor(a!) self) -> Tensor(a!)")


def test_a_dunder_method_is_recorded_as_it_is_called() -> None:
    record = recording("__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
    assert (record.names, record.guard) == (("__iand__",), None)


def test_out_arguments_are_inputs_of_in_place_traces_only() -> None:
    func = "relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
    record = recording(func)
    assert (record.inputs, record.outs, record.options_of_out) == (("self",), ("out",), False)
    assert (
        '    jit::tracer::addInputs(node, "self", self);\n'
        "\n"
        "    if (tracer_state->force_outplace) {\n"
        "\n"
        "    } else {\n"
        '      jit::tracer::addInputs(node, "out", out);\n'
        "    }\n"
    ) in kernel(func)


@pytest.mark.parametrize(
    ("func", "category"),
    [
        ("ones.out(int[] size, *, Tensor(a!) out) -> Tensor(a!)", None),
        ("normal.out(Tensor mean, *, Tensor(a!) out) -> Tensor(a!)", None),
        ("odd.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "factory"),
    ],
)
def test_factories_record_the_options_of_out_as_inputs(func: str, category: str | None) -> None:
    assert recording(func, category_override=category).options_of_out


@pytest.mark.parametrize(("version", "none"), [("2.4", "c10::nullopt"), ("2.5", "::std::nullopt")])
def test_fill_is_recorded_as_full_like_with_more_arguments(version: str, none: str) -> None:
    func = "fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)"
    assert recording(func, version).names == ("full_like", "fill_")
    assert f"layout_or_default({none})" in kernel(func, version)


def test_outputs_that_are_not_returned_are_recorded_out_of_place() -> None:
    record = recording("odd.out(Tensor self, *, Tensor(a!) out, Tensor(b!) _scratch_x) -> Tensor(a!)")
    assert record.outputs == (("out", "_scratch_x"), ("out",))
    assert record.guard is None


def test_a_result_with_the_name_of_an_argument_keeps_its_name() -> None:
    planned = plan("odd(Tensor self) -> Tensor self")
    assert (planned.results, planned.returned) == ("auto self = ", "self_return")


def test_blank_lines_were_indented_once() -> None:
    assert "insertNode(node);\n  \n" in kernel("relu(Tensor self) -> Tensor", "2.7")
    assert "insertNode(node);\n\n" in kernel("relu(Tensor self) -> Tensor", "2.8")


@pytest.mark.parametrize(("version", "shards"), [("2.12", 5), ("2.13", 10)])
def test_overloads_share_a_shard_in_order(version: str, shards: int) -> None:
    units = [Unit(name, name, "add", name, "native", name) for name in ("add.b", "add.a")]
    outputs = TRACE_TYPE.files(units, Layout(), resolve(version))
    assert len(outputs) == shards + 1
    assert [file.units for file in outputs if file.units] == [("add.b", "add.a")] * 2
    assert outputs[-1].name == "TraceTypeEverything.cpp"
    assert all(TRACE_TYPE.owns(file.name) for file in outputs)
