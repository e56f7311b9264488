"""Results that may be an argument itself, or a view of it, without an annotation; with writes to both."""

import torch
import torch.nn.functional as F
from torch import Tensor

# ---- an argument itself, or a copy


def of_one_type(x: Tensor, y: Tensor) -> Tensor:
    """If the dtype is the same, the result is x itself, and gets no history."""
    return x.type_as(y)


def written_of_another_type(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z = x * 1
    w = z.type_as(y.float())
    w.mul_(2)
    return z, w


def summed_to_its_size_written(x: Tensor) -> tuple[Tensor, Tensor]:
    z = x * 1
    whole, row = z.sum_to_size(4, 6), z.sum_to_size(1, 6)
    whole.mul_(2)
    row.mul_(3)
    return z, row


def written_where_resolved(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A copy of what is only marked as a conjugate, or as negative, and else the tensor itself."""
    z, w = torch.complex(x, y), torch.complex(y, x)
    conjugate, negative, same = z.conj().resolve_conj(), z.conj().imag.resolve_neg(), w.resolve_conj()
    conjugate.mul_(2)
    negative.mul_(3)
    same.mul_(4)
    return torch.view_as_real(z), torch.view_as_real(conjugate), negative, torch.view_as_real(w)


def conjugate_of_real_written(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z = x * 1
    w = torch.conj_physical(z)
    w[0].mul_(y[0])
    z.add_(y)
    return w, z.t()


def dense_already_written(x: Tensor) -> Tensor:
    x.to_dense().mul_(2)
    return x


def perhaps_dropped_and_used(x: Tensor, training: bool) -> tuple[Tensor, Tensor]:
    """What was drawn is drawn once."""
    y = F.dropout(x, 0.5, training)
    return y, y[0] * y


def perhaps_dropped_written(x: Tensor, y: Tensor, training: bool) -> tuple[Tensor, Tensor]:
    z = x * 1
    w = F.dropout(z, 0.5, training)
    w.mul_(2)
    return z, w * y


def input_perhaps_dropped_written(x: Tensor, training: bool) -> tuple[Tensor, Tensor]:
    """A leaf may be read, and a copy of it written to."""
    y = F.dropout(x, 0.5, training)
    y.add_(1)
    return y, x * 2


def perhaps_dropped_under_no_grad(x: Tensor, training: bool) -> Tensor:
    with torch.no_grad():
        y = F.dropout(x, 0.5, training)
    return (y * x).sum(0)


# ---- an argument itself, or a view of it


def at_least(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return torch.atleast_1d(x), torch.atleast_2d(x), torch.atleast_3d(x)


def at_least_written(x: Tensor) -> tuple[Tensor, Tensor]:
    z = x * 1
    torch.atleast_2d(z)[0].mul_(2)
    w = torch.atleast_3d(z)
    w.sin_()
    return z, w


def input_at_least_written(x: Tensor) -> Tensor:
    torch.atleast_2d(x).mul_(2)
    return x


def each_at_least(x: Tensor, y: Tensor) -> list[Tensor]:
    return torch.atleast_3d([x, y])


def permuted_by_einsum_written(x: Tensor) -> tuple[Tensor, Tensor]:
    z = x * 1
    w = torch.einsum("ij->ji", z)
    w[0].mul_(2)
    return z, w * 2


def product_by_einsum_written(x: Tensor, y: Tensor) -> Tensor:
    w = torch.einsum("ij,kj->ik", x, y)
    w.mul_(2)
    return w


def broadcast_together_written(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    z = x * 1
    a, b = torch.broadcast_tensors(z, y)
    a.mul_(b)
    return z, a, b


def broadcast_halves_written(x: Tensor) -> tuple[Tensor, Tensor]:
    a, b = (x * 1).split([3, 1])
    c, d = torch.broadcast_tensors(a, b)
    return c * d, c


def column_of_grid_written(x: Tensor, y: Tensor) -> Tensor:
    z = x[0] * 1
    a, _ = torch.meshgrid(z, y[0], indexing="ij")
    a[:, 0].mul_(2)
    return z


def looks_of_another(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Of y only the shape counts: no gradient leads to it."""
    flat = y.reshape(-1) * 2
    z = x * 1
    z.view_as(flat)[1:].mul_(2)
    return z * z.t().t().expand_as(y * 2), x.view_as(flat)


# ---- a copy, or a view, as the strides decide


def with_gaps_then_contiguous(x: Tensor) -> tuple[Tensor, Tensor]:
    """The view has gaps after the write, too: its contiguous form is a copy."""
    z = x[:, ::2]
    z.neg_()
    w = z.contiguous()
    z.sin_()
    return z, w * x[:, 1::2]


def with_gaps_written_by_out(x: Tensor) -> tuple[Tensor, Tensor]:
    z = (x * 1)[:, ::2]
    with torch.no_grad():
        torch.mul(z, z, out=z)
    w = z.contiguous()
    z.transpose(0, -1).sin_()
    return z, w


def with_gaps_reshaped(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    z = (x * 1)[:, ::2]
    z.mul_(2)
    flat, same = z.reshape(-1), z.reshape(4, 3)
    z.add_(1)
    return flat, same, z


def input_with_gaps(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The caller passes a tensor with gaps."""
    x.mul_(y)
    w = x.contiguous()
    x[0].add_(1)
    return w, x * y


def a_view_of_what_a_copy_left(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    flat, v = x.reshape(-1), x.t().contiguous()
    v.mul_(2)
    y = flat.sin()
    x.exp_()
    return v, y, flat.cos()


# ---- in place


def dropped_in_place(x: Tensor, training: bool) -> Tensor:
    y = x * 2
    F.dropout(y, 0.5, training, True)
    torch.alpha_dropout_(y[1], 0.5, training)
    F.feature_alpha_dropout(y, 0.5, training, True)
    return y * x


def input_dropped_in_place(x: Tensor, training: bool) -> Tensor:
    """Nothing is written to unless it is in training."""
    y = torch.feature_dropout_(x[None].clone(), 0.5, training)
    torch.dropout_(x, 0.5, True)
    return y * x


def input_dropped_on_demand(x: Tensor, training: bool) -> Tensor:
    torch.dropout_(x, 0.5, training)
    torch.dropout_(x, 0.0, training)
    return x * 2


# ---- out arguments


def drawn_into(x: Tensor, y: Tensor) -> Tensor:
    """Refused if `x` needs a gradient: the out variant is made of others, and has no derivative."""
    z = x * 1
    torch.randn(z.shape, out=z)
    return z * y


# ---- unknown to autograd


def ignored_by_autograd(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient is that of the old values."""
    z = x * y
    z.logical_not_()
    w = x * y
    torch.gt(x, y, out=w)
    return z, w


def chunks_unknown_to_autograd(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x * 2
    a, b, _, _ = torch.unsafe_split(y, 1)
    a.mul_(3)
    return a * b, torch.unsafe_chunk(x, 2)[0], torch.ops.aten._unsafe_view(x, (-1,))


def row_scaled_and_flat(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    x[0].mul_(y[0])
    z = x.reshape(-1)
    return z, z.contiguous()


def scaled_and_both(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    z = x.double()
    z.mul_(y)
    return z, x.contiguous(), z.to(torch.float32)
