"""Operators that the set does not have, in `.pt2` files: called through the dispatcher, with their own autograd."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from cpp import toolchain
from torch import Tensor, nn
from torch.export import export, save

from graphs import library
from graphs.test_exported import refused

pytestmark = pytest.mark.filterwarnings("ignore")

SCHEMAS = (
    "scaled(Tensor x, float factor, int[] more=[1, 2], Tensor? other=None, *, Scalar by=1, float[] none=[]) -> Tensor",
    "both(Tensor[] xs, str how, float[] by, Tensor?[] others, bool on, ScalarType to) -> (Tensor, Tensor)",
    "parts(Tensor x, SymInt count) -> Tensor[]",
    "itself(Tensor x) -> Tensor",
    "wiped(Tensor(a!) x) -> Tensor",
    "emptied(Tensor(a!) x) -> ()",
    "counted(Tensor x) -> (Tensor, int)",
)


class Scale(torch.autograd.Function):
    """The product with a number; its gradient has a mark, by which tests see that it ran."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.factor = factor
        with torch._C._AutoDispatchBelowAutograd():
            return scale(x, factor)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return grads[0] * ctx.factor * 1000, None


def scale(x: Tensor, factor: float, *more: Any, **named: Any) -> Tensor:
    """The kernel below autograd, which leaves out what the autograd kernel adds: a caller has to start at that one."""
    assert isinstance(factor, float)
    return x * factor


def scaled(x: Tensor, factor: float, more: Any = (), other: Tensor | None = None, **named: Any) -> Tensor:
    y: Tensor = Scale.apply(x, factor)  # type: ignore[no-untyped-call]
    return y if other is None else y + other.sin() * len(more) * named["by"]


def both(xs: list[Tensor], how: str, by: list[float], others: list[Tensor | None], on: bool, to: Any) -> Any:
    total = sum(each for each in others if each is not None)
    return xs[0] * by[0] + total * len(how), (xs[1] * by[1]).to(to) if on else xs[1] * 1


KERNELS: dict[str, tuple[str, Callable[..., Any]]] = {
    "scaled": ("CPU", scale),
    "both": ("CompositeImplicitAutograd", both),
    "parts": ("CompositeImplicitAutograd", lambda x, count: [x * (i + 1) for i in range(count)]),
    "itself": ("CompositeImplicitAutograd", lambda x: x),
    "wiped": ("CPU", lambda x: x * 1),
    "emptied": ("CPU", lambda x: None),
    "counted": ("CompositeImplicitAutograd", lambda x: (x * 2, 3)),
}


@pytest.fixture(scope="module", autouse=True)
def mylib() -> Iterator[torch.library.Library]:
    """The library with the operators."""
    lib = torch.library.Library("mylib", "DEF")
    for schema in SCHEMAS:
        lib.define(schema)
    for name, (key, kernel) in KERNELS.items():
        lib.impl(name, kernel, key)
    lib.impl("scaled", scaled, "Autograd")
    lib.impl("scaled", lambda x, *more, **named: torch.empty_like(x), "Meta")
    lib.impl("wiped", torch.empty_like, "Meta")
    lib.impl("emptied", lambda x: None, "Meta")
    yield lib
    lib._destroy()


class Calls(nn.Module):
    """Calls with every kind of argument, one in a branch, one with a result that is used for its numbers alone."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(4))

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        mylib = torch.ops.mylib
        x.mul_(3)
        a = mylib.scaled(x * self.weight, 2)
        a = mylib.scaled(a, 0.5, [3, 4, 5], y, by=2)
        b, c = mylib.both([a, y], "abc", [1.0, 2.0], [None, x, self.weight], True, torch.float32)
        d, e = mylib.parts(b, 2)
        e = e * torch.cond(x.sum() > 0, lambda x: mylib.scaled(x, 0.1), lambda x: x.cos(), (x,))
        at = mylib.scaled(y, 3.0).argmax(1)
        with torch.no_grad():
            f = mylib.scaled(x, 4.0)
        return c + d * e.sin(), f * y.gather(1, at[:, None]), mylib.itself(x)


def exported(model: nn.Module, path: Path) -> Path:
    count = 2 if isinstance(model, Calls) else 1
    save(export(model, tuple(torch.rand(2, 4) for _ in range(count))), path)
    return path


def one(name: str) -> nn.Module:
    """A model that calls one operator."""

    class One(nn.Module):
        def forward(self, x: Tensor) -> Any:
            y = x * 1
            return getattr(torch.ops.mylib, name)(y), y

    return One()


REFUSED = {
    "emptied": "node 'emptied': the custom operator 'mylib::emptied' returns nothing",
    "counted": "the custom operator 'mylib::counted' returns something other than tensors",
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_operator_that_returns_no_new_tensor_is_refused(name: str, tmp_path: Path) -> None:
    exported(one(name), tmp_path / "one.pt2")
    assert REFUSED[name] in refused(tmp_path / "one.pt2", "torch")


@pytest.fixture(scope="module")
def ops(mylib: object, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """All models, compiled together; the operator of one of them is not registered any more."""
    folder = tmp_path_factory.mktemp("custom")
    graphs = folder / "graphs"
    graphs.mkdir()
    exported(Calls(), graphs / "calls.pt2")
    exported(one("wiped"), graphs / "wiped.pt2")
    other = torch.library.Library("mylib", "FRAGMENT")
    other.define("gone(Tensor x) -> Tensor")
    other.impl("gone", lambda x: x * 1, "CompositeImplicitAutograd")
    exported(one("gone"), graphs / "gone.pt2")
    other._destroy()
    return library.build(graphs, folder, "exported_custom", "torch")


compiled = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())


@pytest.mark.slow(6)
@compiled
def test_the_autograd_of_the_operator_is_its_backward(ops: Any) -> None:
    torch.manual_seed(6)
    model, x, y = Calls(), torch.rand(2, 4), torch.rand(2, 4)

    def run(function: Callable[..., Any]) -> tuple[list[Tensor], tuple[Tensor, ...]]:
        leaves = [x.clone().requires_grad_(), y.clone().requires_grad_()]
        results = function(*(leaf * 1 for leaf in leaves))
        total = torch.stack([(each * each).sum() for each in results]).sum()
        return list(results), torch.autograd.grad(total, [*leaves, model.weight])

    expected, gradients = run(model)
    found, found_gradients = run(lambda *inputs: ops.calls(model.weight, *inputs))
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(found_gradients, gradients)
    assert [each.requires_grad for each in found] == [each.requires_grad for each in expected]
    assert float(gradients[0].abs().max()) > 1000
    with torch.no_grad():
        torch.testing.assert_close(ops.calls(model.weight, x.clone(), y)[0], model(x.clone(), y)[0])


@pytest.mark.slow(6)
@compiled
def test_an_operator_that_writes_or_is_missing_is_an_error_of_the_call(ops: Any) -> None:
    with pytest.raises(RuntimeError, match="mylib::wiped: a graph calls custom operators that return new tensors"):
        ops.wiped(torch.rand(2, 4))
    with pytest.raises(RuntimeError, match="mylib::gone is not registered: load the library that defines it"):
        ops.gone(torch.rand(2, 4))
