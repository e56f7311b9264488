"""Nested graphs of `.pt2` files: regions of autocast and without grad, and what was checkpointed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
import torch.nn.functional as F
from cpp import toolchain
from torch import Tensor, nn
from torch._subclasses import FakeTensorMode
from torch.export import export, save

from gradmill.extensions.graphs.model import Call, Constant
from gradmill.extensions.graphs.read.exported import autocast
from gradmill.releases import minor, resolve
from graphs import library
from graphs.casting import MACROS, OF_CUDA
from graphs.reading import Reading
from graphs.test_exported import edited, refused

pytestmark = pytest.mark.filterwarnings("ignore")
VERSION = minor(torch.__version__)


class Mixed(nn.Module):
    """Calls that autocast casts down, up, to the widest, inside of others, and not; a region within that is off."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 8), nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)
        self.conv = nn.Conv1d(1, 2, 3)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            scale = (x @ x.t()).abs().sum()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            a = self.norm(self.first(x).relu())
            b = torch.cat([a, self.second(a)], 1)
            with torch.autocast("cpu", enabled=False):
                c = self.second(a.float())
            d = torch.einsum("ij,kj->ik", c, a) + torch.linalg.matmul(c, a.t())
            e = self.conv(b.unsqueeze(1)).softmax(-1)
            return F.mse_loss(d, y) + e.sum() / scale


class Recurrent(nn.Module):
    """Calls whose parts autocast casts, each in its own way, and calls that depend on their dtypes."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LSTM(6, 5), nn.GRU(6, 4)
        self.cell, self.joined = nn.LSTMCell(6, 4), nn.Bilinear(6, 4, 4)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            a, (b, _) = self.first(x.unsqueeze(1))
            c, _ = self.second(x.unsqueeze(1))
            d, _ = self.cell(x)
            e = self.joined(x, d.float())
            return F.mse_loss(c.squeeze(1), y) + F.mse_loss(b.sin(), a[-1:].tanh()) + torch.tensordot(d, e.t(), 1).sum()


class OnCuda(nn.Module):
    """What autocast does on CUDA and not on the CPU; tensors that are created there, and moved there."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 8)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            h = self.first(x) + torch.tensor([1.0, 2.0], device=x.device).sum()
            h = h * torch.arange(8).to(x.device)
            return F.cross_entropy(F.layer_norm(h, (8,)) @ self.first.weight + h.softmax(-1).sum(), y)


def exported_on_cuda(path: Path) -> None:
    """Exports a model on CUDA where there is none: its tensors have no memory."""
    model = OnCuda()
    with (
        mock.patch("torch.cuda.amp.common.amp_definitely_not_available", lambda: False),
        mock.patch("torch.cuda.is_bf16_supported", lambda *_: True),
        FakeTensorMode(allow_non_fake_inputs=True),
    ):
        for name, each in model.first._parameters.items():
            model.first._parameters[name] = nn.Parameter(torch.empty_like(each, device="cuda"), requires_grad=False)
        program = export(model, (torch.empty(4, 6, device="cuda"), torch.zeros(4, dtype=torch.long, device="cuda")))
    for name, each in model.state_dict().items():
        program.state_dict[name] = nn.Parameter(torch.zeros(each.shape), requires_grad=False)
    save(program, path)


class Enabled(nn.Module):
    """A region with gradients, which torch.export only writes if it runs without."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        with torch.enable_grad():
            return (x[:, :4] * y).sum() + (x * x).sum()


ENABLING = """
import torch
from torch import Tensor


def enabling(x: Tensor) -> Tensor:
    with torch.no_grad():
        with torch.set_grad_enabled(True):
            return x * 2


def disabling(x: Tensor) -> Tensor:
    with torch.no_grad():
        return x * 2
"""


def exported(model: nn.Module, folder: Path) -> Path:
    path = folder / "model.pt2"
    with torch.set_grad_enabled(not isinstance(model, Enabled)):
        save(export(model, (torch.rand(4, 6), torch.rand(4, 4))), path)
    return path


def calls(path: Path) -> list[Call]:
    return list(Reading(path, "torch").function("model").calls)


def test_calls_on_cuda_are_cast_as_its_autocast_does_and_stay_there(tmp_path: Path) -> None:
    path = tmp_path / "model.pt2"
    exported_on_cuda(path)
    called = [each for each in calls(path) if each.results]
    lower, full = (Constant("ScalarType", name) for name in ("bfloat16", "float32"))
    softmax = next(each for each in called if each.op == "aten::softmax.int")
    assert softmax.arguments["dtype"] == full
    assert called[-1].op == "aten::cross_entropy_loss"  # not cast to float32, as on the CPU: its parts are
    assert called[-1].autocast == ("cuda", "bfloat16")
    casts = [each.arguments["dtype"] for each in called if "_cast" in each.results[0].name]
    assert casts.count(lower) == 5  # of linear and matmul
    assert casts.count(full) == 1  # of layer_norm
    devices = {
        value.name for each in called for value in each.arguments.values() if getattr(value, "kind", "") == "Device"
    }
    assert devices == {"cpu", "cuda:0"}


def test_what_an_exported_model_creates_is_on_another_device(tmp_path: Path) -> None:
    exported_on_cuda(tmp_path / "model.pt2")
    function = Reading(tmp_path / "model.pt2", "torch", device="cuda:1").function("model")
    assert {each.facts.device for each in function.inputs if each.facts is not None} == {"cuda:1"}
    created = [
        value.name
        for each in function.calls
        for value in each.arguments.values()
        if getattr(value, "kind", "") == "Device"
    ]
    assert set(created) == {"cuda:1"}
    assert Reading(tmp_path / "model.pt2", "torch", device="xpu").functions["model"] is None


FORBIDDEN = {"binary_cross_entropy", "_cudnn_rnn"}  # an error but on the CPU; cast by torch for CUDA in its own kernel


@pytest.mark.parametrize("device", autocast.DEVICES)
def test_the_tables_have_all_overloads_that_autocast_knows(device: str) -> None:
    names = (name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::"))
    key = f"Autocast{device.upper()}"
    known = {each[6:] for each in names if torch._C._dispatch_has_kernel_for_dispatch_key(each, key)}
    found = autocast.DEVICES[device]
    assert len(known) > 100
    if device != "cpu":
        known = known - FORBIDDEN - resolve(VERSION).autocast_full | OF_CUDA.keys()
    assert found.kinds.keys() == {f"aten::{name}" for name in known}
    assert {*found.kinds.values()} <= {*MACROS}
    assert torch.get_autocast_dtype(device) == getattr(torch, found.default)


def test_autocast_for_another_device_is_refused(tmp_path: Path) -> None:
    def on_mps(model: Any) -> Any:
        node = next(each for each in model["graph_module"]["graph"]["nodes"] if each["target"].endswith("_autocast"))
        node["inputs"][0]["arg"] = {"as_string": "mps"}
        return model

    path = edited(exported(Mixed(), tmp_path), tmp_path, on_mps)
    assert "autocast for the device 'mps' is not supported in a graph" in refused(path, "torch")


def test_a_call_with_casts_that_are_not_known_is_refused(tmp_path: Path) -> None:
    def without_matmul(model: Any) -> bytes:
        return json.dumps(model).replace("aten.matmul", "aten.atan2").encode()

    path = edited(exported(Mixed(), tmp_path), tmp_path, without_matmul)
    assert "how autocast casts arguments of 'aten::atan2' is not known" in refused(path, "torch")


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> object:
    """All models, and some functions, compiled together."""
    folder = tmp_path_factory.mktemp("modes")
    graphs = folder / "graphs"
    graphs.mkdir()
    (graphs / "functions.py").write_text(ENABLING)
    for model in (Mixed(), Recurrent(), Enabled()):
        name = type(model).__name__.lower()
        exported(model, graphs).rename(graphs / f"{name}.pt2")
    return library.build(graphs, folder, "exported_modes", "torch")


@pytest.mark.slow(2)
@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
@pytest.mark.parametrize("kind", [Mixed, Recurrent, Enabled])
def test_a_model_with_regions_trains_as_in_eager(kind: type[nn.Module], ops: object) -> None:
    torch.manual_seed(6)
    model, x, y = kind(), torch.rand(4, 6), torch.rand(4, 4)
    x.requires_grad_()
    inputs = [*model.parameters(), x]
    expected = model(x, y)
    loss = getattr(ops, kind.__name__.lower())(*model.parameters(), x, y)
    torch.testing.assert_close(loss, expected)
    rounding = {"rtol": 0.0, "atol": 0.0} if kind is Recurrent else {}  # the same calls, in the same region
    expected_grads = torch.autograd.grad(expected, inputs)
    torch.testing.assert_close(torch.autograd.grad(loss, inputs), expected_grads, **rounding)


@pytest.mark.slow(2)
@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
def test_a_graph_that_enables_gradients_is_refused_under_no_grad(ops: Any) -> None:
    x, y = torch.rand(4, 6, requires_grad=True), torch.rand(4, 4)
    assert ops.enabling(x).requires_grad
    with torch.no_grad():
        assert Enabled()(x, y).requires_grad  # as a graph cannot
        for call in (lambda: ops.enabled(x, y), lambda: ops.enabling(x)):
            with pytest.raises(RuntimeError, match=r"enabl\w+: it enables gradients itself: call it"):
                call()
        torch.testing.assert_close(ops.enabled(x.detach(), y), Enabled()(x.detach(), y))
        assert not ops.disabling(x).requires_grad


class Reversed(torch.autograd.Function):
    """The same value, and the gradient of the opposite one."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.sin()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        return -grads[0]


class Lost(nn.Module):
    """The same calls, with or without something that changes gradients."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def forward(self, x: Tensor) -> Tensor:
        y = x * 2
        if self.how == "hook of a tensor" and y.requires_grad:
            y.register_hook(lambda grad: grad * 3)
        z: Tensor = Reversed.apply(y) if self.how == "autograd function" else y.sin()  # type: ignore[no-untyped-call]
        return z * 2


@pytest.mark.parametrize("how", ["autograd function", "hook of a tensor"])
def test_what_the_docs_say_that_an_export_loses_is_not_in_the_file(how: str, tmp_path: Path) -> None:
    found = []
    for each in (how, "nothing"):
        x = torch.ones(3, requires_grad=True)
        save(export(Lost(each), (x,)), tmp_path / "lost.pt2")
        reading = Reading(tmp_path / "lost.pt2", "torch")
        function = reading.function("lost")
        assert all(call.grad for call in function.calls)
        warned = [problem for problem in reading.problems if problem.rule == "lost-backward"]
        assert [problem.warning for problem in warned] == ([True] if each == "autograd function" else [])
        assert all(problem.problem.startswith(f"{Path(__file__).name}:") for problem in warned)
        found.append([call.op for call in function.calls])
    assert found[0] == found[1] == ["aten::mul.Tensor", "aten::sin", "aten::mul.Tensor"]
