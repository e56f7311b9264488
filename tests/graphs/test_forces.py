"""What the example of forces exports: a trace of `torch.autograd.grad`, whose gradients are eager's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from project import ROOT
from torch import Tensor, nn

sys.path.insert(0, str(ROOT / "examples" / "forces"))

from traced import Traced


class Energy(nn.Module):
    """Results that autograd saves, and a parameter that is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.inner = nn.Parameter(torch.rand(3)), nn.Linear(3, 2)
        self.register_buffer("scale", torch.tensor(0.5), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        waves = torch.exp(x * self.weight).tanh() + (x * self.weight).sigmoid()
        return (self.inner(waves).softmax(-1)[:, 0] * x.norm(dim=-1).sqrt() * self.scale).sum()


def forces(energy: Callable[[Tensor], Tensor], x: Tensor) -> tuple[Tensor, Tensor]:
    x = x.requires_grad_()
    result = energy(x)
    return result, -torch.autograd.grad(result, x, create_graph=True)[0]


def gradients(model: nn.Module, results: tuple[Tensor, Tensor]) -> list[Tensor]:
    return list(torch.autograd.grad(results[0] + results[1].pow(2).sum(), list(model.parameters())))


def test_a_trace_has_the_gradients_of_forces_for_inputs_of_any_size() -> None:
    torch.manual_seed(0)
    model = Energy().double()
    traced = Traced(forces, model, (torch.rand(3, 3, dtype=torch.float64),))  # its sizes are equal by chance
    assert [*dict(traced.named_parameters())] == [*dict(model.named_parameters())]
    assert traced.state_dict().keys() == model.state_dict().keys()
    for size in (1, 3, 7):
        x = torch.rand(size, 3, dtype=torch.float64)
        expected, actual = forces(model, x.clone()), traced(x)
        torch.testing.assert_close(tuple(actual), expected)
        torch.testing.assert_close(gradients(model, tuple(actual)), gradients(model, expected))


def detached(energy: Callable[[Tensor], Tensor], x: Tensor) -> tuple[Tensor, Tensor]:
    return forces(lambda x: energy(x) * x.detach().sum(), x)


def without_gradients(energy: Callable[[Tensor], Tensor], x: Tensor) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        scale = energy(x)
    return forces(lambda x: energy(x) * scale, x)


@pytest.mark.parametrize("function", [detached, without_gradients])
def test_a_function_that_cuts_a_history_is_not_traced(function: Callable[..., tuple[Tensor, Tensor]]) -> None:
    with pytest.raises(ValueError, match="a traced function cannot cut the history of a tensor"):
        Traced(function, Energy(), (torch.rand(2, 3),))


def test_a_trace_calls_custom_operators_and_their_backwards() -> None:
    @torch.library.custom_op("forceslib::cube", mutates_args=())
    def cube(x: Tensor) -> Tensor:
        return x**3

    @torch.library.custom_op("forceslib::cube_backward", mutates_args=())
    def cube_backward(grad: Tensor, x: Tensor) -> Tensor:
        return 3 * x**2 * grad

    def again(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        incoming, x = ctx.saved_tensors
        return 3 * x * x * grad, 6 * x * incoming * grad

    for each in (cube, cube_backward):
        each.register_fake(lambda *given: torch.empty_like(given[-1]))
    keep = lambda ctx, inputs, output: ctx.save_for_backward(*inputs)  # noqa: E731
    cube.register_autograd(lambda ctx, grad: cube_backward(grad, *ctx.saved_tensors), setup_context=keep)
    cube_backward.register_autograd(again, setup_context=keep)
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(3, 3), Summed(cube)).double(), torch.rand(4, 3, dtype=torch.float64)
    traced = Traced(forces, model, (x[:2],))
    called = {str(node.target) for node in traced.calls.graph.nodes}
    assert called > {"forceslib.cube.default", "forceslib.cube_backward.default"}
    torch.testing.assert_close(gradients(model, tuple(traced(x.clone()))), gradients(model, forces(model, x)))


class Summed(nn.Module):
    """The sum of what a function gives."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x).sum()
