"""Several cases in one graph."""

import torch
from torch import Tensor


def mutated_with_view_out(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """An input written to and returned as a view, an alias of an intermediate, a plain output."""
    x.mul_(y)
    z = x + 1
    return x[0], z.t(), z * y


def rotated(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """Halves of tensors, as in a rotary embedding."""
    q1, q2 = q.chunk(2, -1)
    k1, k2 = k.chunk(2, -1)
    return torch.cat([q1 * 2 - q2, q2 + q1], -1), torch.cat([k1 - k2 * 2, k2 + k1], -1)


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = q @ k.t() * (1 / q.shape[-1] ** 0.5)
    return torch._softmax(scores, -1, False) @ v


def momentum_step(weight: Tensor, velocity: Tensor, grad: Tensor, rate: float = 0.1) -> None:
    """An optimizer's step: two inputs written to."""
    velocity.mul_(0.9).add_(grad)
    weight.sub_(velocity * rate)


def cell(x: Tensor, h: Tensor, c: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """A step of an LSTM."""
    i, f, g, o = (torch.cat([x, h], 1) @ w).chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def two_layers(x: Tensor, w1: Tensor, w2: Tensor) -> Tensor:
    """With an activation in place."""
    h = x @ w1
    h.relu_()
    return ((h @ w2) ** 2).mean()


def history(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Writes through views of views, in turns with writes to the base."""
    b = x * y
    r = b[1:]
    c = r[:, 1:3]
    b.mul_(2)
    c.add_(y[1:, 1:3])
    r[0].sin_()
    b[:, 0] = c[:, 0].sum()
    return b, r.t()


def counted(x: Tensor, count: Tensor) -> Tensor:
    """An integer input that is written to."""
    count.add_(1)
    return x * count


def cleaned(x: Tensor, y: Tensor) -> Tensor:
    """Written to under no_grad, then with grad, then returned as an alias."""
    with torch.no_grad():
        x.zero_()
    x.add_(y)
    return x.t()


def written_transposed(x: Tensor) -> Tensor:
    x.t_()
    x.mul_(2)
    return x[0:2]


def many_outputs(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    s = x + y
    p = x * y
    return s, s[0], p.t(), x, y[1:]


def put_in_zeros(x: Tensor, at: Tensor) -> Tensor:
    """What is written needs a gradient, and what it is written to has none."""
    out = torch.zeros_like(x)
    out[at] = x[at] * 2
    return out


def own_row_assigned(x: Tensor, y: Tensor) -> Tensor:
    """A subscript's assignment expands its value first, so this one writes each element to itself."""
    row = x[0]
    x[0:1] = row
    return x * y


def own_row_to_others(x: Tensor, y: Tensor) -> Tensor:
    """An expanded value may overlap with what is written."""
    row = y[0]
    y[0:1] = y[1:2] * 2
    x[1:3] = x[2]
    return x * y * row


def leading_ones_assigned(x: Tensor, y: Tensor) -> Tensor:
    """A value may have more dimensions, all of size 1."""
    x[1] = y[None, 0:1] * 2
    return x * y
