"""Graphs without any mutation: what is saved, what is accumulated, what has no derivative."""

import torch
from torch import Tensor

EPS = 1e-3


def polynomial(x: Tensor, y: Tensor) -> Tensor:
    """Several uses of one input: its gradients add up."""
    return x * y + x * x * 3 - y / (x * x + 1)


def chain(x: Tensor) -> Tensor:
    """Each step saves its result or its input."""
    return ((x.sin().exp() + 1).log() * x.tanh()).sigmoid()


def shared(x: Tensor) -> tuple[Tensor, Tensor]:
    """Two outputs of one intermediate."""
    h = x.exp()
    return h * 2, h.cos()


def unused(x: Tensor, y: Tensor) -> Tensor:
    """An input that nothing uses, and a result that nothing uses."""
    x.exp()
    return x * 2


def constant_only(x: Tensor) -> Tensor:
    """A module-level constant, and numbers on the left."""
    return 1 / (x * x + EPS) + 2 * x


def powers(x: Tensor, y: Tensor) -> Tensor:
    return (x * x + 1) ** y + x**3 + 2.0**y


def reduced(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x.sum(), x.sum(dim=1, keepdim=True), x.mean(0)


def product(a: Tensor, b: Tensor) -> Tensor:
    return (a @ b).relu()


def affine(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return torch.addmm(b, x, w.t(), beta=2, alpha=0.5)


def broadcast(x: Tensor, row: Tensor) -> Tensor:
    """The gradient of what is broadcast is summed."""
    return x * row + row


def largest(x: Tensor) -> tuple[Tensor, Tensor]:
    """An integer output has no gradient."""
    values, indices = x.max(dim=1)
    return values * 2, indices


def named(x: Tensor) -> Tensor:
    """A result by its name."""
    return x.max(dim=1).values + x.max(1)[0]


def masked(x: Tensor) -> Tensor:
    """A mask carries no gradient."""
    mask = x == x.abs()
    return torch.where(mask, x * 2, x.exp()) + x.masked_fill(mask, 0.5)


def detached(x: Tensor) -> Tensor:
    return x * x.detach() + x


def detached_output(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.exp()
    return y.detach(), y * 2


def no_derivative(x: Tensor) -> Tensor:
    """Autograd has no formula for it: the error comes with the backward."""
    values, _ = torch.histogram(x.flip(0), 4)
    return values


def stopped(x: Tensor) -> Tensor:
    """A result that is no function of what requires grad."""
    y = x.floor()
    return y + x.argmax()


def softmaxed(x: Tensor) -> Tensor:
    return torch._softmax(x, 1, False) * torch._log_softmax(x, 0, False)


def losses(x: Tensor, y: Tensor) -> Tensor:
    return torch.nn.functional.mse_loss(x, y) + torch.nn.functional.huber_loss(x, y, delta=0.5)


def custom(x: Tensor) -> Tensor:
    """An operator of gradmill's own, and composite ones."""
    return torch.matmul(x.reshape(2, -1), x.reshape(-1, 2)) + x.narrow(0, 0, 2).sum()
