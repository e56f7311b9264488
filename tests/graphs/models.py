"""Small models, for export: versions of common ones, and others. All in double precision, so that rounding explains no
difference."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram, export
from torch.utils.checkpoint import checkpoint
from torch_seed import seed_torch


class MLP(nn.Module):
    """Two layers, an activation in place between them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.act = nn.ReLU(inplace=True)
        self.second = nn.Linear(16, 3)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return F.mse_loss(self.second(self.act(self.first(x))), y)


class ConvBlock(nn.Module):
    """Convolution, batch norm in training mode, which updates its buffers, activation."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return F.mse_loss(self.act(self.norm(self.conv(x))), y)


class Unrolled(nn.Module):
    """An LSTM cell, four steps of it."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs = nn.Linear(5, 24)
        self.states = nn.Linear(6, 24, bias=False)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        h = torch.zeros(x.shape[1], 6, dtype=x.dtype)
        c = torch.zeros(x.shape[1], 6, dtype=x.dtype)
        for step in range(4):
            i, f, g, o = (self.inputs(x[step]) + self.states(h)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return F.mse_loss(h, y)


class Attention(nn.Module):
    """Multi-head self-attention, optionally causal."""

    def __init__(self, width: int, heads: int, *, causal: bool) -> None:
        super().__init__()
        self.heads = heads
        self.causal = causal
        self.mixed = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = self.mixed(x).split(width, dim=2)
        q, k, v = (t.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) * (width // self.heads) ** -0.5
        if self.causal:
            mask = torch.ones(length, length, dtype=torch.bool).tril()
            scores = scores.masked_fill(~mask, float("-inf"))
        y = scores.softmax(-1) @ v
        return self.out(y.transpose(1, 2).contiguous().view(batch, length, width))


class EncoderLayer(nn.Module):
    """A layer of a transformer's encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention(8, 2, causal=False)
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 8)
        self.norm1, self.norm2 = nn.LayerNorm(8), nn.LayerNorm(8)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        x = self.norm1(x + self.attention(x))
        x = self.norm2(x + self.second(self.first(x).relu()))
        return F.mse_loss(x, y)


class GPT(nn.Module):
    """Embeddings, a block of causal attention and layer norm, a loss over the next token."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(11, 8), nn.Embedding(5, 8)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(8), nn.LayerNorm(8), nn.LayerNorm(8)
        self.attention = Attention(8, 2, causal=True)
        self.wide, self.narrow = nn.Linear(8, 32), nn.Linear(32, 8)
        self.head = nn.Linear(8, 11, bias=False)

    def forward(self, ids: Tensor, targets: Tensor) -> Tensor:
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        x = x + self.attention(self.norm1(x))
        x = x + self.narrow(F.gelu(self.wide(self.norm2(x))))
        logits = self.head(self.norm3(x))
        return F.cross_entropy(logits.view(-1, 11), targets.view(-1))


# ---- models of few operators each


class Deep(nn.Module):
    """More parameters and buffers than torch's dispatcher takes arguments."""

    def __init__(self) -> None:
        super().__init__()
        layers = [layer for _ in range(16) for layer in (nn.Linear(3, 3), nn.BatchNorm1d(3))]
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x).sum()


class Siamese(nn.Module):
    """Statistics that are updated twice in a forward."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.norm = nn.Linear(3, 3), nn.BatchNorm1d(3)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.norm(self.layer(x)).tanh() * self.norm(self.layer(y))).sum()


class Normed(nn.Module):
    """Calls with out=, as in every spectral norm, which updates its vectors so."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x).tanh().sum()


class Complex(nn.Module):
    """A convolution of complex numbers, which is made of real ones."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(1, 2, 2, dtype=torch.complex128)

    def forward(self, x: Tensor) -> Tensor:
        return torch.view_as_real(self.layer(torch.complex(x, x * 2).view(1, 1, 5, 3))).square().sum()


class Dropping(nn.Module):
    """Dropouts that draw random numbers, and others that return their input."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = F.dropout(F.dropout(F.dropout(x.sin(), 0.1), 0.5), 0.9)
        return y, F.dropout(F.dropout(x * 2, 0.0), 0.5, training=False)


class Cast(nn.Module):
    """Views with the sizes of what is the input itself."""

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        z = x.to(torch.float64)
        return z, z * z, y.expand_as(z).type_as(z)


class Scaled(nn.Module):
    """A constant that is copied and detached."""

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.tensor(2.0)


class Checkpointed(nn.Module):
    """Layers whose values eager recomputes in the backward."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 8), nn.Linear(8, 8)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        h = checkpoint(lambda x: self.second(self.first(x).tanh()), x, use_reentrant=False)
        return (h.sin() * y.sum()).sum()


# ---- of sizes that are known at run time


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
    """For any strides."""

    def forward(self, x: Tensor) -> Tensor:
        return x.t().contiguous() * 2


class Doubled(nn.Module):
    """Of sizes that torch.export assumes to be two at least."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.cat([x * 2, y])


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


# ---- the table


class Case(NamedTuple):
    """A model and its training data. `sizes`: what the data are made of, one after another; the first is exported."""

    make: Callable[[], nn.Module]
    inputs: Callable[..., tuple[Any, ...]]
    sizes: tuple[tuple[Any, ...], ...] = ((),)
    shapes: Any = None  # which are dynamic


def _double(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


CASES: dict[str, Case] = {
    "mlp": Case(MLP, lambda: (_double(8, 6), _double(8, 3))),
    "conv_block": Case(ConvBlock, lambda: (_double(4, 3, 6, 6), _double(4, 4, 6, 6))),
    "unrolled": Case(Unrolled, lambda: (_double(4, 3, 5), _double(3, 6))),
    "encoder_layer": Case(EncoderLayer, lambda: (_double(2, 5, 8), _double(2, 5, 8))),
    "gpt": Case(GPT, lambda: (torch.randint(11, (2, 5)), torch.randint(11, (2, 5)))),
}


_ROWS, _EVEN, _FEW = Dim("rows", min=2, max=64), 2 * Dim("half", min=2, max=32), Dim("few", max=100)
MORE: dict[str, Case] = {
    "deep": Case(Deep, lambda: (_double(5, 3),)),
    "siamese": Case(Siamese, lambda: (_double(5, 3), _double(5, 3))),
    "normed": Case(Normed, lambda: (_double(5, 3),)),
    "complex": Case(Complex, lambda: (_double(5, 3),)),
    "dropping": Case(Dropping, lambda: (_double(8, 8),)),
    "cast": Case(Cast, lambda: (_double(5, 3), _double(3))),
    "scaled": Case(Scaled, lambda: (_double(3),)),
    "checkpointed": Case(Checkpointed, lambda: (_double(4, 6), _double(4, 4))),
    "empty": Case(Empty, lambda: (_double(0, 3, 4), _double(5, 4), _double(5), _double(2, 2, 3, 4))),
    "sized": Case(
        Sized,
        lambda b: (_double(b, 3), _double(b + 1), b + 5),
        ((4,), (2,), (3,), (17,)),
        ({0: _ROWS}, {0: _ROWS + 1}, Dim.DYNAMIC),
    ),
    "classifier": Case(
        Classifier,
        lambda b: (_double(b, 1, 3, 3), torch.randint(3, (b,))),
        ((4,), (6,), (20,)),
        ({0: _EVEN}, {0: _EVEN}),
    ),
    "transposed": Case(
        Transposed,
        lambda rows, columns: (_double(columns, rows).t(),),
        ((3, 4), (7, 2), (1, 1), (4, 3)),
        ({0: Dim("p"), 1: Dim("q")},),
    ),
    "doubled": Case(
        Doubled,
        lambda x, y: (_double(x, 3), _double(y, 3)),
        ((4, 5), *itertools.product((0, 1, 2, 5), (0, 1, 6))),
        {"x": {0: Dim.AUTO}, "y": {0: Dim.AUTO(max=6)}},
    ),
    "positive": Case(
        Positive,
        lambda *numbers: (torch.tensor(numbers, dtype=torch.float64),),
        ((-1.0, 2.0, -3.0, 4.0), (5.0, -1.0, 2.0, 3.0, 4.0), (-1.0, -2.0, -3.0)),
        ({0: Dim("p")},),
    ),
    "computed": Case(Computed, lambda n: (torch.arange(n),), ((5,), (2,), (3,), (9,), (60,)), ({0: _FEW},)),
}
ALL = CASES | MORE


def model(name: str) -> nn.Module:
    """A model with the same weights each time."""
    seed_torch(1)
    return ALL[name].make().double()


def inputs(name: str, *size: Any) -> tuple[Any, ...]:
    """The training data of a model, of one of its sizes."""
    seed_torch(2)
    return ALL[name].inputs(*(size or ALL[name].sizes[0]))


def exported(name: str) -> ExportedProgram:
    """A model as torch.export writes it."""
    return export(model(name), inputs(name), dynamic_shapes=ALL[name].shapes)
