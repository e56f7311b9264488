"""Grad modes, random operators, optional tensors, lists, numbers, out arguments."""

import torch
from torch import Tensor


def no_grad_write(x: Tensor) -> Tensor:
    """A write that autograd does not see."""
    with torch.no_grad():
        x.mul_(2)
    return x * 3


def no_grad_value(x: Tensor) -> Tensor:
    with torch.no_grad():
        scale = x.abs().sum()
    return x / scale


def no_grad_view_write(x: Tensor) -> Tensor:
    y = x.clone()
    with torch.no_grad():
        y[0].zero_()
    return y * x


def no_grad_write_beside_a_copy(x: Tensor) -> tuple[Tensor, Tensor]:
    """What is written to a copy is none of the input's business: that is written to under `no_grad` alone."""
    y = x.t().contiguous()
    y.mul_(2)
    with torch.no_grad():
        x.mul_(0.5)
    return x, y


def enabled_again(x: Tensor) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        a = x * 2
        with torch.enable_grad():
            b = x * 3
    return a, b


def no_grad_output(x: Tensor) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        v = x[0]
        y = x * 2
    return v, y


@torch.no_grad()
def no_grad_all(x: Tensor) -> Tensor:
    x.mul_(2)
    return x + 1


def dropped(x: Tensor) -> Tensor:
    """Random numbers of the default generator, in the order in which eager draws them."""
    kept = torch.bernoulli(x.detach() * 0 + 0.5)
    return x * kept + torch.rand(4, 6, dtype=torch.float64)


def noise_in_place(x: Tensor) -> Tensor:
    y = x * 2
    y.add_(torch.empty_like(y).normal_())
    y[0].uniform_(0, 1)
    return y


def input_made_random(x: Tensor) -> Tensor:
    x.normal_()
    return x * 2


def optional(x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
    """A tensor that may be None."""
    return torch.nn.functional.linear(x, w, b)


def normalized(x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    y, _, _ = torch.native_layer_norm(x, [6], weight, bias, 1e-5)
    return y


def joined(xs: list[Tensor]) -> Tensor:
    """A list of tensors."""
    return torch.cat(xs, 1).sum(1) * 2


def stacked(x: Tensor, y: Tensor) -> Tensor:
    return torch.stack([x, y * 2, x]).sum(0)


def taken_apart(xs: list[Tensor]) -> Tensor:
    a, b = xs
    return a * b


def repeated(x: Tensor, times: int, shift: int = 1) -> Tensor:
    return x.repeat(1, times).roll(shift, 1)


def sized(x: Tensor, heads: int) -> Tensor:
    """Shapes and numbers are computed when the graph runs."""
    n, width = x.shape
    y = x.view(n, heads, width // heads).transpose(0, 1)
    return y * (1.0 / (width / heads) ** 0.5) + x.size(0)


def shaped(x: Tensor, shape: list[int]) -> Tensor:
    return x.reshape(shape) * len(shape)


def switched(x: Tensor, keep: bool, scale: float = 0.5) -> Tensor:
    return x.sum(1, keepdim=keep) * scale


def number_returned(x: Tensor) -> tuple[Tensor, int]:
    return x * 2, x.shape[1]


def as_other(x: Tensor, y: Tensor) -> Tensor:
    """A new tensor of another one's dtype and device."""
    return x + torch.full((4, 6), 2.0, dtype=y.dtype, device=y.device)


def batch_normalized(x: Tensor, mean: Tensor, var: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Statistics that are updated in place, without a gradient."""
    y, _, _ = torch._native_batch_norm_legit(x, weight, bias, mean, var, True, 0.1, 1e-5)
    return y.relu()


# ---- out arguments: eager refuses those whose gradient is wanted


def out_of_input(x: Tensor, y: Tensor) -> Tensor:
    return torch.mul(x, x, out=y)


def out_of_new(x: Tensor) -> Tensor:
    y = torch.empty_like(x)
    torch.exp(x, out=y)
    return y * 2


def out_that_grows(x: Tensor) -> Tensor:
    """An empty out argument gets the size of the result."""
    y = torch.empty(0, dtype=torch.float64)
    torch.add(x, x, out=y)
    return y


def out_in_a_column(x: Tensor) -> Tensor:
    y = torch.zeros_like(x)
    torch.sum(x, 1, out=y[:, 0])
    return y


def out_of_several(x: Tensor) -> tuple[Tensor, Tensor]:
    values = torch.empty(4, dtype=torch.float64)
    places = torch.empty(4, dtype=torch.int64)
    torch.max(x, 1, out=(values, places))
    return values, places


def out_without_grad(x: Tensor, y: Tensor) -> Tensor:
    with torch.no_grad():
        torch.mul(x, 3, out=y)
    return x * y
