"""Small versions of common models, for export. All in double precision, so that rounding explains no difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
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


class Case(NamedTuple):
    """A model and its training data."""

    make: Callable[[], nn.Module]
    inputs: Callable[[], tuple[Tensor, ...]]


def _double(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


CASES: dict[str, Case] = {
    "mlp": Case(MLP, lambda: (_double(8, 6), _double(8, 3))),
    "conv_block": Case(ConvBlock, lambda: (_double(4, 3, 6, 6), _double(4, 4, 6, 6))),
    "unrolled": Case(Unrolled, lambda: (_double(4, 3, 5), _double(3, 6))),
    "encoder_layer": Case(EncoderLayer, lambda: (_double(2, 5, 8), _double(2, 5, 8))),
    "gpt": Case(GPT, lambda: (torch.randint(11, (2, 5)), torch.randint(11, (2, 5)))),
}


def model(name: str) -> nn.Module:
    """A model with the same weights each time."""
    seed_torch(1)
    return CASES[name].make().double()


def inputs(name: str) -> tuple[Tensor, ...]:
    """The training data of a model."""
    seed_torch(2)
    return CASES[name].inputs()
