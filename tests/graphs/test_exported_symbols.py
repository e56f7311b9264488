"""`.pt2` files with sizes that are known at run time: one graph serves all sizes, and refuses those that do not fit."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from cpp import toolchain
from torch import Tensor, nn
from torch.export import Dim, export, save

from graphs import library
from graphs.reading import Reading, written
from graphs.test_exported import edited, refused

pytestmark = pytest.mark.filterwarnings("ignore")


class Sized(nn.Module):
    """Computations of sizes, a size that is an expression of another one, whole numbers as input and output."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.norm = nn.Linear(3, 4), nn.LayerNorm(4)

    def forward(self, x: Tensor, y: Tensor, n: int) -> tuple[Tensor, int, Tensor]:
        b = x.shape[0]
        z = self.norm(self.layer(x)).view(b * 2, -1) * n
        return z.sum() + (y[1:] * x[:, 0]).sum(), b * 2 + n, torch.cat([y, y]).softmax(0)


class Classifier(nn.Module):
    """A network with statistics; the size of a batch is even."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.last = nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), nn.Linear(18, 3)

    def forward(self, x: Tensor, labels: Tensor) -> Tensor:
        h = self.norm(self.conv(x)).relu()
        first, second = h.flatten(1).chunk(2)
        return F.cross_entropy(self.last(torch.cat([second, first])), labels)


class Transposed(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.t().contiguous() * 2


class Doubled(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.cat([x * 2, y])


class Decided(nn.Module):
    """The traced path depends on sizes: each is even, or more than three, in inputs of other names than the graph's."""

    def forward(self, x: Tensor, more: dict[str, list[Tensor]]) -> Tensor:
        first = more["First"][0]
        x = x * 2 if x.shape[0] % 2 == 0 and first.shape[0] * 2 > x.shape[0] else x * 3
        return x.sum() + first.sum()


class Positive(nn.Module):
    """A size that depends on data."""

    def forward(self, x: Tensor) -> Tensor:
        return x[x > 0].exp()


class Computed(nn.Module):
    """Numbers that are computed from a size, ints and floats among them."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        n = x.shape[0]
        root = torch.sym_sqrt(n + 2)
        most, bits = torch.sym_max(n, 2.5), (n << 1) + (n >> 1) * (n & 3) + (n | 1)
        return x * root, x * math.trunc(root), x * most, x * bits, x * (n // 3 + n % 3), x * (n / 3), x * (2**n // 7)


class Empty(nn.Module):
    """Products of tensors without elements, of sizes that are known."""

    def forward(self, x: Tensor, weight: Tensor, bias: Tensor, y: Tensor) -> list[Tensor]:
        some = [F.linear(x, weight, bias), x @ weight.t(), y @ y.mT, y[:, :, :0] @ y.mT]
        return [*some, y[..., :0] @ y[..., :0].mT, y[:0] @ y[:0].mT]


def double(*shape: int) -> Tensor:
    return torch.rand(*shape, dtype=torch.float64)


def sized(folder: Path) -> Path:
    b = Dim("b", min=2, max=64)
    shapes = ({0: b}, {0: b + 1}, Dim.DYNAMIC)
    save(export(Sized().double(), (double(4, 3), double(5), 3), dynamic_shapes=shapes), folder / "sized.pt2")
    return folder / "sized.pt2"


def others(folder: Path) -> None:
    even = 2 * Dim("half", min=2, max=32)
    program = export(
        Classifier().double(), (double(4, 1, 3, 3), torch.randint(3, (4,))), dynamic_shapes=({0: even}, {0: even})
    )
    save(program, folder / "classifier.pt2")
    shapes = ({0: Dim("p"), 1: Dim("q")},)
    save(export(Transposed(), (double(4, 3).t(),), dynamic_shapes=shapes), folder / "transposed.pt2")
    auto = {"x": {0: Dim.AUTO}, "y": {0: Dim.AUTO(max=6)}}
    save(export(Doubled(), (double(4, 3), double(5, 3)), dynamic_shapes=auto), folder / "doubled.pt2")
    program = export(Decided(), (double(4), {"First": [double(5)]}), dynamic_shapes=decided_sizes())
    save(program, folder / "decided.pt2")
    save(export(Empty(), empty()), folder / "empty.pt2")
    whole, few = torch.ones(5, dtype=torch.int64), ({0: Dim("few", max=100)},)
    save(export(Computed(), (whole,), dynamic_shapes=few), folder / "computed.pt2")
    save(export(Positive(), (double(4),), dynamic_shapes=({0: Dim("p")},)), folder / "positive.pt2")


def empty() -> tuple[Tensor, ...]:
    return double(0, 3, 4), double(5, 4), double(5), double(2, 2, 3, 4)


def decided_sizes() -> dict[str, Any]:
    return {"x": {0: Dim.AUTO}, "more": {"First": [{0: Dim.AUTO}]}}


def test_symbols_are_computed_from_sizes_and_all_other_sizes_are_compared(tmp_path: Path) -> None:
    reading = Reading(sized(tmp_path), tmp_path / "cache", "torch")
    function = reading.functions["sized"]
    assert function is not None, reading.report
    guards = [line for line in written(function) if "python::expect" in line or "python::within" in line]
    assert [line.partition("what=")[2].rstrip(")") for line in guards] == [
        "sized: size 0 of input 'y' must be (s77 + 1",
        "sized: s77, from size 0 of input 'x',",
    ]
    assert [each.type for each in function.inputs[-3:]] == ["Tensor", "Tensor", "int"]


FAULTS = {
    "no code": ("__import__('os').getcwd()", "the size '__import__('os')"),
    "an unknown function": ("Zeta(Symbol('s77'), Integer(2))", "the size 'Zeta(s77, 2)' is not supported in a graph"),
    "an unknown symbol": ("Add(Symbol('s1'), Symbol('s2'))", "no size of an input determines 's1'"),
    "a quotient that is no whole number": (
        "IntTrueDiv(Symbol('s77'), Integer(2))",
        "the size 'IntTrueDiv(s77, 2)' is not supported in a graph",
    ),
    "no expression": ("Add(", "the size of an input cannot be read"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_expression_that_cannot_be_used_is_refused(fault: str, tmp_path: Path) -> None:
    text, problem = FAULTS[fault]

    def edit(model: Any) -> Any:
        model["graph_module"]["graph"]["tensor_values"]["y"]["sizes"][0]["as_expr"]["expr_str"] = text
        return model

    path = sized(tmp_path)
    (tmp_path / "edited").mkdir()
    assert problem in refused(edited(path, tmp_path / "edited", edit))


def test_an_unsupported_number_is_one_error_however_often_it_is_used(tmp_path: Path) -> None:
    def edit(model: Any) -> Any:
        (node,) = (each for each in model["graph_module"]["graph"]["nodes"] if each["target"] == "torch._sym_sqrt")
        node["target"] = "torch._sym_gamma"
        return model

    whole, few = torch.ones(5, dtype=torch.int64), ({0: Dim("few", max=100)},)
    save(export(Computed(), (whole,), dynamic_shapes=few), tmp_path / "computed.pt2")
    (tmp_path / "edited").mkdir()
    text = refused(edited(tmp_path / "computed.pt2", tmp_path / "edited", edit))
    assert "the operator 'torch._sym_gamma' is not supported in a graph" in text
    assert text.count("error:") == 1 and "damaged" not in text


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """All models, compiled together."""
    folder = tmp_path_factory.mktemp("symbols")
    (folder / "graphs").mkdir()
    sized(folder / "graphs")
    others(folder / "graphs")
    return library.build(folder / "graphs", folder, "exported_symbols", "torch")


compiled = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())


@pytest.mark.slow(0.4)
@compiled
@pytest.mark.parametrize("b", [2, 3, 4, 17])
def test_a_graph_matches_eager_at_every_size(b: int, ops: Any) -> None:
    torch.manual_seed(b)
    model, x, y = Sized().double(), double(b, 3).requires_grad_(), double(b + 1).requires_grad_()
    inputs = [*model.parameters(), x, y]
    outputs = ops.sized(*model.parameters(), x, y, b + 5)
    expected = model(x, y, b + 5)
    torch.testing.assert_close(outputs, expected)
    gradients = [torch.autograd.grad(each[0] + each[2].sin().sum(), inputs) for each in (outputs, expected)]
    torch.testing.assert_close(*gradients)


@pytest.mark.slow(0.4)
@compiled
@pytest.mark.parametrize("b", [4, 6, 20])
def test_a_network_with_statistics_matches_eager_at_every_size(b: int, ops: Any) -> None:
    torch.manual_seed(b)
    model, x, labels = Classifier().double(), double(b, 1, 3, 3), torch.randint(3, (b,))
    parameters, buffers = list(model.parameters()), [each.clone() for each in model.buffers()]
    loss = ops.classifier(*parameters, *buffers, x, labels)
    expected = model(x, labels)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(torch.autograd.grad(loss, parameters), torch.autograd.grad(expected, parameters))
    torch.testing.assert_close(buffers, list(model.buffers()))


@pytest.mark.slow(0.4)
@compiled
def test_sizes_that_do_not_fit_are_errors_that_name_them(ops: Any) -> None:
    parameters = list(Sized().double().parameters())
    with pytest.raises(RuntimeError, match=r"sized: size 0 of input 'y' must be \(s\d+ \+ 1\) = 5, got 7"):
        ops.sized(*parameters, double(4, 3), double(7), 3)
    with pytest.raises(RuntimeError, match=r"sized: s\d+, from size 0 of input 'x', must be in \[0, 64\], got 65"):
        ops.sized(*parameters, double(65, 3), double(66), 3)
    with pytest.raises(RuntimeError, match=r"made for an input 'x' of shape \[-1, 3\], got \[4, 2\]"):
        ops.sized(*parameters, double(4, 2), double(5), 3)
    model = Classifier().double()
    with pytest.raises(RuntimeError, match=r"classifier: size 0 of input 'x' must be \(2\*s\d+\) = 4, got 5"):
        ops.classifier(*model.parameters(), *model.buffers(), double(5, 1, 3, 3), torch.randint(3, (5,)))


@pytest.mark.slow(0.4)
@compiled
@pytest.mark.parametrize("x", [0, 1, 2, 5])
@pytest.mark.parametrize("y", [0, 1, 6, 7])
def test_sizes_that_torch_export_only_assumes_are_served(x: int, y: int, ops: Any) -> None:
    """It assumes that a size which is known at run time is two at least."""
    shapes = {"x": {0: Dim.AUTO}, "y": {0: Dim.AUTO(max=6)}}
    module = export(Doubled(), (double(4, 3), double(5, 3)), dynamic_shapes=shapes).module()
    inputs = double(x, 3), double(y, 3)
    if y > 6:
        with pytest.raises(AssertionError):
            module(*inputs)
        with pytest.raises(RuntimeError, match=r"doubled: s\d+, from size 0 of input 'y', must be in \[0, 6"):
            ops.doubled(*inputs)
    else:
        assert torch.equal(ops.doubled(*inputs), module(*inputs))


@pytest.mark.slow(0.4)
@compiled
def test_a_size_that_would_take_another_path_is_an_error(ops: Any) -> None:
    module = export(Decided(), (double(4), {"First": [double(5)]}), dynamic_shapes=decided_sizes()).module()
    for x in range(12):
        for first in range(8):
            inputs = double(x), double(first)
            try:
                expected = module(inputs[0], {"First": [inputs[1]]})
            except AssertionError:
                with pytest.raises(RuntimeError, match="decided: the model was exported for inputs with "):
                    ops.decided(*inputs)
            else:
                torch.testing.assert_close(ops.decided(*inputs), expected)


def test_a_decision_that_cannot_be_checked_is_refused(tmp_path: Path) -> None:
    def edit(model: Any) -> Any:
        return {**model, "guards_code": ["__import__('os').getcwd() == L['x'].size()[0]"]}

    (tmp_path / "edited").mkdir()
    text = refused(edited(sized(tmp_path), tmp_path / "edited", edit))
    assert "the export depends on '__import__('os').getcwd() == L['x'].size()[0]', which a graph cannot check" in text


@pytest.mark.slow(0.4)
@compiled
def test_all_strides_are_served(ops: Any) -> None:
    """The exported module has no guards for them."""
    for x in (double(2, 7).t(), double(5, 3).t(), double(1, 1).t(), double(3, 4), double(4, 6)[:, ::2]):
        assert torch.equal(ops.transposed(x), x.t() * 2)
    y = double(5, 3)
    for x in (double(3, 4).t(), double(1, 3).expand(4, 3), double(4, 6)[:, ::2]):
        assert torch.equal(ops.doubled(x, y), Doubled()(x, y))


@pytest.mark.slow(0.4)
@compiled
def test_products_without_elements_are_as_in_eager(ops: Any) -> None:
    inputs = [each.requires_grad_() for each in empty()]
    outputs, expected = ops.empty(*inputs), Empty()(*inputs)
    torch.testing.assert_close(list(outputs), expected)
    torch.testing.assert_close(*(torch.autograd.grad(sum(e.sum() for e in r), inputs) for r in (outputs, expected)))


@pytest.mark.slow(0.4)
@compiled
def test_sizes_that_depend_on_data_are_carried(ops: Any) -> None:
    for x in (torch.tensor([-1.0, 2.0, -3.0, 4.0, 5.0], dtype=torch.float64), -double(3)):
        assert torch.equal(ops.positive(x), x[x > 0].exp())


@pytest.mark.slow(0.4)
@compiled
def test_numbers_that_are_computed_from_sizes_are_as_in_eager(ops: Any) -> None:
    for n in (2, 3, 5, 9, 60):
        x = torch.arange(n)
        assert [*map(torch.equal, ops.computed(x), Computed()(x))] == [True] * 7
        assert [each.dtype for each in ops.computed(x)] == [each.dtype for each in Computed()(x)]
    with pytest.raises(RuntimeError, match="the number is too large: it has more than 64 bits"):
        ops.computed(torch.arange(70))
