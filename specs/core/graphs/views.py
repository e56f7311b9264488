"""Views inside a graph, written to or not: each alias sees what the others do."""

from torch import Tensor


def read_only(x: Tensor) -> Tensor:
    return x.t().unsqueeze(0).expand(2, -1, -1).transpose(1, 2).sum(0)


def written_view(t: Tensor) -> Tensor:
    """The example of CopySlices: a write through a view is a write to its base."""
    b = t.clone()
    x = b.select(0, 0)
    x.mul_(2)
    return b


def written_base(t: Tensor) -> Tensor:
    """A view that was there before sees a write to its base."""
    b = t.clone()
    x = b[0]
    b.mul_(3)
    return x + 1


def two_views(t: Tensor) -> Tensor:
    """Views that overlap."""
    b = t.clone()
    x, y = b[0:2], b[1:3]
    x.mul_(2)
    y.add_(1)
    return x * y


def view_of_view(t: Tensor) -> tuple[Tensor, Tensor]:
    b = t.clone()
    x = b[1:].t()[0]
    x.exp_()
    return b, x


def written_twice(t: Tensor) -> Tensor:
    b = t * 1
    b[0].sin_()
    b[:, 1].mul_(b[:, 0])
    b[0] += b[1]
    return b


def assigned(t: Tensor, v: Tensor) -> Tensor:
    b = t.clone()
    b[1:, 0] = v[1:, 1]
    b[0] = 2.0
    b[..., -1] = v[0, 0]
    return b * t


def assigned_all(t: Tensor, v: Tensor) -> Tensor:
    """All that was there is written over: no gradient is left for it."""
    b = t.clone()
    b[:] = v
    return b


def steps(t: Tensor) -> Tensor:
    b = t.clone()
    b[::2, 1:4:2] *= t[::2, 1:4:2]
    return b


def newaxis(t: Tensor) -> Tensor:
    return t[None, ..., None] * t[1, None, :, None]


def diagonal(t: Tensor) -> Tensor:
    b = t.clone()
    b.diagonal().mul_(5)
    b.diagonal(1).zero_()
    return b


def strided(t: Tensor) -> Tensor:
    b = t.clone()
    b.as_strided((2, 3), (6, 1), 1).mul_(2)
    return b


def reshaped(t: Tensor) -> Tensor:
    """`reshape` is a view here."""
    b = t.clone()
    b.view(-1).mul_(2)
    b.reshape(2, -1)[0].add_(1)
    return b


def halves(t: Tensor) -> Tensor:
    """Views of several outputs, one of them written to by way of the base."""
    b = t.clone()
    first, second = b.chunk(2)
    b.mul_(2)
    return first + second


def parts(t: Tensor) -> Tensor:
    a, b, c = t.exp().split([1, 2, 1])
    return a * b.sum(0) + c


def rows(t: Tensor) -> Tensor:
    """Unpacking a tensor is `unbind`."""
    a, b, c, d = t
    return a * b + c / (d * d + 1)


def permuted(t: Tensor) -> Tensor:
    b = t.clone()
    b.permute(1, 0)[2].neg_()
    return b.unfold(1, 2, 2).sum(-1)


def scattered(t: Tensor, s: Tensor) -> Tensor:
    """The functional variants themselves."""
    return t.slice_scatter(s[:2], 0, 0, 2).select_scatter(s[0], 0, 3).diagonal_scatter(s[:, 0])


def indexed(t: Tensor, i: Tensor) -> Tensor:
    b = t.clone()
    b[i] += 1
    b[i, 0] = 3.0
    return t[i] * b[:, i].t()


def in_place_result(t: Tensor) -> Tensor:
    """An operator in place gives its argument."""
    b = t.clone()
    c = b.mul_(2)
    c.add_(1)
    return b * c


def saved_then_view(t: Tensor) -> Tensor:
    """What is saved is the value before the write, as the graph is functional."""
    b = t.clone()
    y = b.select(0, 1) * b.select(0, 2)
    z = y * 2
    z.mul_(y)
    return z + b[0]


def expanded(t: Tensor) -> Tensor:
    row = t[0].clone()
    wide = row.expand(3, -1)
    row.mul_(2)
    return wide + t[:3]
