"""Samples of an operator: where they are from, which variants they have, and that each is accepted."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from gradmill.extensions.verify.child import from_opinfo
from gradmill.extensions.verify.child.calls import Calls, same, tensors
from gradmill.extensions.verify.child.from_opinfo import SMALL
from gradmill.extensions.verify.child.operators import function_of
from gradmill.extensions.verify.child.probe import Probe
from gradmill.extensions.verify.child.samples import Sample, samples
from verify.sampled import overload


@pytest.fixture
def no_own_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for an operator that torch has no samples of."""
    monkeypatch.setattr(from_opinfo, "recorded", lambda name, folder: [])


def of(name: str, limit: int = 8) -> list[Sample]:
    operator = overload(name)
    function = function_of(operator.name(), operator._schema, {})
    return list(samples(function, operator._schema, folder=None, limit=limit))


def of_function(function: Callable[..., Any], schema: str) -> list[Sample]:
    parsed = torch._C.parse_schema(schema)
    own = function_of(parsed.name, parsed, {parsed.name.partition("::")[2]: function})
    return list(samples(own, parsed, folder=None, limit=8))


def call(name: str, sample: Sample) -> Any:
    operator = overload(name)
    arguments = operator._schema.arguments
    keyword = {each.name: value for each, value in zip(arguments, sample.args) if each.kwarg_only}
    return operator(*sample.args[: len(arguments) - len(keyword)], **keyword)


@pytest.mark.usefixtures("no_own_samples")
@pytest.mark.parametrize(
    "name",
    """
    exp acosh pow.Tensor_Tensor addmm baddbmm cat index_select scatter_add where.self sum.dim_IntList cumprod
    native_layer_norm native_group_norm convolution max_pool2d_with_indices upsample_bilinear2d reflection_pad1d
    grid_sampler_2d _linalg_svd linalg_solve_triangular gelu div.Tensor_mode slice.Tensor view index_put fill_.Tensor
    conv_tbc _ctc_loss _ctc_loss.Tensor _foreach_div.List _foreach_pow.ScalarList mse_loss_backward view_as_real
    """.split(),
)
def test_a_schema_alone_gives_samples_that_the_operator_accepts(name: str) -> None:
    found = of(name)
    plain = [each for each in found if each.kind == "plain" and not each.point]
    assert plain
    assert len(plain) <= 8
    assert all(len(each.args) == len(overload(name)._schema.arguments) for each in found)
    with torch.no_grad():
        for each in found:
            call(name, each)


@pytest.mark.usefixtures("no_own_samples")
def test_the_same_samples_come_each_time() -> None:
    first, second = (of("addmm") for _ in range(2))
    assert [each[1:] for each in first] == [each[1:] for each in second]
    assert [str(each.args) for each in first] == [str(each.args) for each in second]


def test_torchs_own_samples_are_those_of_the_overload_and_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    softmax = from_opinfo.recorded("aten::_softmax", tmp_path)
    assert {source.rpartition(",")[0] for source, _ in softmax} == {"torch's sample of softmax"}
    assert all(isinstance(values[0], Tensor) and values[2] is False for _, values in softmax)
    monkeypatch.setattr(from_opinfo, "run", lambda wanted: pytest.fail("it is run again"))
    again = from_opinfo.recorded("aten::_softmax", tmp_path)
    assert all(same(list(one), list(other)) for (_, one), (_, other) in zip(softmax, again))


def test_a_call_in_the_backward_of_a_sample_is_known_as_one(tmp_path: Path) -> None:
    found = from_opinfo.recorded("aten::_softmax_backward_data", tmp_path)
    assert found
    assert all(source.startswith("the backward of torch's sample of ") for source, _ in found)


def test_a_damaged_file_of_recorded_samples_is_recorded_again(tmp_path: Path) -> None:
    before = from_opinfo.recorded("aten::mv", tmp_path)
    (file,) = tmp_path.rglob("*.pt")
    file.write_bytes(file.read_bytes()[:-100])
    assert len(from_opinfo.recorded("aten::mv", tmp_path)) == len(before) > 0


@pytest.mark.usefixtures("no_own_samples")
def test_dimensions_are_negative_and_out_of_order_with_few_samples() -> None:
    dims = [each.args[1] for each in of("amax", 8)]
    assert [1, 0] in dims
    assert any(min(each, default=0) < 0 for each in dims)


@pytest.mark.usefixtures("no_own_samples")
def test_layouts_have_strides_broadcasts_and_no_elements() -> None:
    found = {each.point: each.args for each in of("mul.Tensor", 40) if each.kind == "layout"}
    assert not found["transposed self"][0].is_contiguous()
    assert found["expanded other"][1].stride(0) == 0
    assert found["lower-rank self"][0].dim() < found["lower-rank self"][1].dim()
    assert any(what.startswith("empty") and not values[0].numel() for what, values in found.items())
    assert [list(each.shape) for each in found["0-dim other"][:2]] == [[1], []]
    images = {each.point: each.args for each in of("avg_pool2d", 40) if each.kind == "layout"}
    assert images["channels-last self"][0].is_contiguous(memory_format=torch.channels_last)


@pytest.mark.usefixtures("no_own_samples")
def test_each_argument_has_other_values() -> None:
    found = {each.point for each in of("linalg_vector_norm", 40)}
    assert {"keepdim = True", "dim = [-1, 0]", "ord = 0", "ord = inf"} <= found
    mixed = {each.args[1].dtype for each in of("pow.Tensor_Tensor", 12)}
    assert {torch.float64, torch.complex128, torch.int64, torch.bool} <= mixed
    exponents = [each.args[1] for each in of("ldexp.Tensor") if each.args[1].dtype == torch.int64]
    assert any(bool((each < 0).all()) for each in exponents)


@pytest.mark.usefixtures("no_own_samples")
def test_a_complex_number_comes_next_to_complex_tensors() -> None:
    found = [each.args for each in of("rsub.Scalar")]
    assert any(isinstance(values[2], complex) and values[0].is_complex() for values in found)


@pytest.mark.usefixtures("no_own_samples")
def test_indices_that_are_written_to_differ() -> None:
    found = [each.args for each in of("index_copy", 20)]
    assert any(len(values[2].unique()) > 1 for values in found)
    assert [values[2] for values in found if values[2].numel() != len(values[2].unique())] == []
    assert any(values[1].numel() != len(values[1].unique()) for values in (e.args[1:] for e in of("index_add", 20)))


@pytest.mark.usefixtures("no_own_samples")
def test_special_numbers_stand_next_to_each_other() -> None:
    (paired,) = {each.args for each in of("special_xlog1py", 12) if each.point == "pairs of 0, -1 and 1"}
    found = set(zip(*(each.flatten().tolist() for each in paired)))
    assert {(0, 0), (-1, 0), (1, 0), (0, -1), (-1, -1), (1, -1)} <= found
    numbers = [each.args for each in of("xlogy.Scalar_Other") if each.point.startswith("0, -1 and 1")]
    assert {number for _, number in numbers} == {0, -1}
    assert all(set(values.flatten().tolist()) == {0, -1, 1} for values, _ in numbers)


@pytest.mark.usefixtures("no_own_samples")
def test_all_tensors_are_so_large_that_exponentials_overflow() -> None:
    (large,) = {each.args for each in of("logaddexp", 8) if each.point == "all large"}
    assert all(bool(each.exp().isinf().all()) for each in large)
    assert "self: very large" in {each.point for each in of("softplus", 40)} | {each.point for each in of("exp", 8)}


def test_torchs_samples_have_tall_and_wide_matrices_in_each_mode() -> None:
    shapes = {(each.args[3], each.args[0].shape[-2:]) for each in of("linalg_lstsq", 8) if "torch's" in each.source}
    tall = {driver for driver, (rows, columns) in shapes if rows > columns}
    assert tall & {"gels", "gelsd", "gelss"}
    assert any(rows < columns for _, (rows, columns) in shapes)


def test_slices_are_parts_and_larger_samples_of_torch_are_kept_where_it_has_no_small_ones() -> None:
    sizes = [(each.source, [tensor.numel() for tensor in each.args[:2]]) for each in of("slice_scatter")]
    own = [size for source, size in sizes if source.startswith("torch's")]
    assert own
    assert all(part < whole for whole, part in own)
    assert any(part < whole for source, (whole, part) in sizes if source.startswith("made"))
    assert all(sum(each.numel() for each in tensors(list(sample.args))) <= SMALL for sample in of("exp"))


# ---- operators of others


def test_a_function_stands_for_an_operator_that_torch_does_not_have() -> None:
    def scaled(self: Tensor, other: Tensor | None, *, scale: float) -> Tensor:
        return self * scale if other is None else self * scale + other

    found = of_function(scaled, "mine::scaled(Tensor self, Tensor? other=None, *, float scale) -> Tensor")
    assert {each.kind for each in found} == {"plain", "layout", "point"}
    assert {each.args[1] is None for each in found} == {True, False}


def test_an_operator_that_ends_its_process_ends_a_copy() -> None:
    def fragile(self: Tensor) -> Tensor:
        if self.dim() != 2:
            os._exit(3)
        return self.exp()

    found = of_function(fragile, "mine::fragile(Tensor self) -> Tensor")
    assert found
    assert {each.args[0].dim() for each in found} == {2}


def test_an_operator_gets_no_layouts_that_it_takes_for_others() -> None:
    def in_memory(self: Tensor) -> Tensor:
        return self.as_strided((self.numel(),), (1,), self.storage_offset()).exp()

    found = of_function(in_memory, "mine::in_memory(Tensor self) -> Tensor")
    assert found
    assert all(values[0].is_contiguous() for values in (each.args for each in found))


def test_an_operator_that_reads_past_the_end_of_a_tensor_is_refused() -> None:
    def past_the_end(self: Tensor) -> Tensor:
        return self.as_strided((self.numel() + 1,), (1,), self.storage_offset()).sum()

    assert [
        each for each in of_function(past_the_end, "mine::past(Tensor self) -> Tensor") if each.kind == "plain"
    ] == []


def test_negative_dimensions_are_for_operators_that_count_them_from_the_end() -> None:
    def accepted(function: Callable[..., Any]) -> list[int]:
        probe = Probe(forks=False)
        schema = torch._C.parse_schema("mine(Tensor self, int dim) -> Tensor")
        calls = Calls(lambda args: (function(*args), args), schema, probe)
        found = [dim for dim in (0, 1, -1) if calls.accepts((torch.ones(2, 3), dim))]
        return [*found, *(dim for dim in (-1,) if calls.accepts((torch.zeros(2, 3), dim)))]

    assert accepted(lambda self, dim: self.cumsum(dim)) == [0, 1, -1, -1]
    assert accepted(lambda self, dim: self.unsqueeze(dim)) == [0, 1, -1, -1]
    assert accepted(lambda self, dim: self * (2 + dim)) == [0, 1]


@pytest.mark.usefixtures("no_own_samples")
def test_indices_of_all_elements_differ_where_one_of_several_is_kept() -> None:
    plain = [each for each in of("put") if each.source.startswith("made") and not each.args[3]]
    assert plain
    assert all(each.args[1].unique().numel() == each.args[1].numel() for each in plain)


def test_factors_of_sizes_give_the_size_of_the_output() -> None:
    operator = overload("upsample_nearest2d")
    function = function_of(operator.name(), operator._schema, {})
    calls, image = Calls(function, operator._schema, Probe(forks=False)), torch.ones(1, 1, 4, 4)
    accepted = [scale for scale in (None, 1.5, 1.6, 0.5, 2.0) if calls.accepts((image, [6, 4], scale, None))]
    assert accepted == [None, 1.5, 1.6]
