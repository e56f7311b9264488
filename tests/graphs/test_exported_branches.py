"""`torch.cond` in `.pt2` files: each branch is a function of its own, and the one that ran has the gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from cpp import toolchain
from torch import Tensor, nn
from torch.export import Dim, export, save

from graphs import library
from graphs.test_exported import edited, refused

pytestmark = pytest.mark.filterwarnings("ignore")


class Layers(nn.Module):
    """Two layers to choose from, with several results, one of them a number; what is chosen by is an input."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, flag: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        def one(x: Tensor) -> tuple[Tensor, Tensor, int]:
            return self.first(x).relu(), x.sin(), 3

        def other(x: Tensor) -> tuple[Tensor, Tensor, int]:
            return self.second(x), x * 2, 3

        y, z, n = torch.cond(flag, one, other, (x,))
        return y * z, z + n


class Inner(nn.Module):
    """A branch within a branch, writes to a value of the branch, what is chosen by is computed."""

    def forward(self, flag: Tensor, x: Tensor) -> Tensor:
        def deeper(x: Tensor) -> Tensor:
            return cast(Tensor, torch.cond(x.sum() > 4, lambda x: x.exp() * x, lambda x: (x * 3).mul_(x), (x,)))

        y = torch.cond(flag, deeper, lambda x: x.cos(), (x,))
        return cast(Tensor, torch.cond(y.sum() > 3, lambda y, x: y / x, lambda y, x: y * x, (y, x)))


class Ungraded(nn.Module):
    """Branches without gradients: one of two, whole numbers, and two that no gradient reaches."""

    def forward(self, flag: Tensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        def ungraded(x: Tensor) -> Tensor:
            with torch.no_grad():
                return x * 2

        y = torch.cond(flag, ungraded, lambda x: x * x, (x,))
        n = torch.cond(flag, lambda x: x.argmax(1), lambda x: x.argmin(1), (x,))
        z = torch.cond(flag, lambda x: x * 5, lambda x: x * 7, (x,)).argmax(1)
        return y * x, x.gather(1, z[:, None]), n * 0.5


class Written(nn.Module):
    """The input is written to after a branch has used it, and a branch uses the new value."""

    def forward(self, flag: Tensor, x: Tensor) -> Tensor:
        y = torch.cond(flag, lambda x: x + 1, lambda x: x - 1, (x,))
        x.mul_(2)
        return cast(Tensor, y * torch.cond(flag, lambda x: x.sin(), lambda x: x.cos(), (x,)))


class Sized(nn.Module):
    """Chosen by a size that is known at run time."""

    def forward(self, flag: Tensor, x: Tensor) -> Tensor:
        mean: Tensor = torch.cond(
            x.shape[0] > 3, lambda x: x * x.shape[0], lambda x: x.sum(0).expand(x.shape[0], 4) * 1, (x,)
        )
        return mean * x


class Mixed(nn.Module):
    """A region of autocast in a branch."""

    def forward(self, flag: Tensor, x: Tensor) -> Tensor:
        def mixed(x: Tensor) -> Tensor:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return (x @ x.t()).float()

        return cast(Tensor, torch.cond(flag, mixed, lambda x: x @ x.t() * 2, (x,)))


MODELS = (Layers, Inner, Ungraded, Written, Sized, Mixed)


def exported(model: nn.Module, folder: Path) -> Path:
    shapes = {"flag": None, "x": {0: Dim("rows")}} if isinstance(model, Sized) else None
    path = folder / f"{type(model).__name__.lower()}.pt2"
    save(export(model, (torch.tensor(True), torch.rand(2, 4)), dynamic_shapes=shapes), path)
    return path


def plain(condition: Any, then: Callable[..., Any], otherwise: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """`torch.cond` as Python."""
    return then(*operands) if condition else otherwise(*operands)


def in_a_branch(edit: Callable[[Any], None]) -> Callable[[Any], Any]:
    """An edit of the first branch's graph."""

    def edited_model(model: Any) -> Any:
        nodes = model["graph_module"]["graph"]["nodes"]
        edit(next(each for each in nodes if each["target"].endswith(".cond"))["inputs"])
        return model

    return edited_model


def writes(inputs: Any) -> None:
    inputs[2]["arg"]["as_graph"]["graph"]["nodes"][0]["target"] = "torch.ops.aten.cos_.default"


def unknown(inputs: Any) -> None:
    inputs[2]["arg"]["as_graph"]["graph"]["nodes"][0]["target"] = "torch.ops.aten.coss.default"


def no_operand(inputs: Any) -> None:
    inputs[3]["arg"] = {"as_tensors": []}


def no_graph(inputs: Any) -> None:
    inputs[2]["arg"] = {"as_bool": True}


FAULTS: dict[Callable[[Any], None], str] = {
    writes: "small: cond: a branch of 'cond' changes its input 'x' in place\n  hint: change a copy, x.clone(), and",
    unknown: "node 'cos': the spec set has no operator 'aten::coss.default'",
    no_operand: "node 'cond': 'cond' cannot be read",
    no_graph: "node 'cond': 'cond' cannot be read",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_branch_is_refused(fault: Callable[[Any], None], tmp_path: Path) -> None:
    path = edited(exported(Inner(), tmp_path), tmp_path, in_a_branch(fault))
    assert FAULTS[fault] in refused(path, "torch")


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> object:
    """All models, compiled together."""
    folder = tmp_path_factory.mktemp("branches")
    graphs = folder / "graphs"
    graphs.mkdir()
    for kind in MODELS:
        exported(kind(), graphs)
    return library.build(graphs, folder, "exported_branches", "torch")


@pytest.mark.slow(0.6)
@pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
@pytest.mark.parametrize("scale", [0.1, 2.0])
@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("kind", MODELS)
def test_the_branch_that_runs_has_the_gradients(
    kind: type[nn.Module], flag: bool, scale: float, ops: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "cond", plain)
    torch.manual_seed(6)
    rows = int(scale * 3) + 1 if kind is Sized else 2
    model, x, condition = kind(), torch.rand(rows, 4) * scale, torch.tensor(flag)
    graph = getattr(ops, kind.__name__.lower())
    parameters = list(model.parameters())

    def run(function: Callable[..., Any], *, unused: bool) -> tuple[list[Tensor], list[Tensor]]:
        leaf = x.clone().requires_grad_()
        results = function(condition, leaf * 1)
        listed = list(results) if isinstance(results, tuple) else [results]
        total = torch.stack([(each * each).sum() for each in listed if each.is_floating_point()]).sum()
        return listed, list(torch.autograd.grad(total, [leaf, *parameters], materialize_grads=unused))

    expected, gradients = run(model, unused=True)
    # As from torch.cond: the parameters of the branch that does not run have zeros, too.
    found, found_gradients = run(lambda *inputs: graph(*parameters, *inputs), unused=False)
    torch.testing.assert_close(found, expected)
    assert [each.requires_grad for each in found] == [each.requires_grad for each in expected]
    torch.testing.assert_close(found_gradients, gradients)
    with torch.no_grad():
        results = graph(*parameters, condition, x.clone())
        assert not any(each.requires_grad for each in (results if isinstance(results, tuple) else [results]))
