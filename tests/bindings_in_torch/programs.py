"""Programs of many calls, in which all bindings are replaced by ours."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def _trained(model: nn.Module, x: Tensor, optimizer: type[torch.optim.Optimizer], steps: int = 3) -> list[Tensor]:
    """The losses of some steps, and the parameters after them."""
    changing = optimizer(model.parameters(), lr=0.05)  # type: ignore[call-arg]
    losses = []
    for _ in range(steps):
        changing.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        changing.step()
        losses.append(loss.detach())
    return [*losses, *(parameter.detach() for parameter in model.parameters())]


def _images() -> Any:
    layers = [nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3)]
    return _trained(nn.Sequential(*layers, nn.Dropout(0.3)), torch.randn(4, 2, 8, 8), torch.optim.SGD)


def _attention() -> Any:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return _trained(layer, torch.randn(2, 5, 8), torch.optim.Adam)


class _Last(nn.Module):
    """The last outputs of a recurrent network."""

    def __init__(self) -> None:
        super().__init__()
        self.network = nn.LSTM(3, 5, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.network(x)[0][:, -1]


def _sequences() -> Any:
    return _trained(_Last(), torch.randn(2, 6, 3), torch.optim.AdamW)


def _algebra() -> Any:
    x = torch.randn(4, 4, dtype=torch.float64, requires_grad=True)
    spd = x @ x.mT + 4 * torch.eye(4, dtype=torch.float64)
    values, vectors = torch.linalg.eigh(spd)
    waves = torch.fft.rfft(torch.special.erf(x), norm="ortho")
    total = values.log().sum() + vectors.abs().sum() + waves.abs().sum() + torch.linalg.slogdet(spd).logabsdet
    return [total, *torch.autograd.grad(total, x)]


def _words() -> Any:
    table = nn.Embedding(7, 4)
    logits = table(torch.tensor([[1, 2], [3, 6]])) @ table.weight.t()
    loss = F.cross_entropy(logits.flatten(0, 1), torch.tensor([1, 2, 3, 4]), label_smoothing=0.1)
    loss.backward()
    return [loss, table.weight.grad, torch.multinomial(logits.flatten(0, 1).softmax(-1), 2)]


def _indexed() -> Any:
    x = torch.arange(24.0).view(2, 3, 4)
    x[:, 1:] += 1
    x[x > 20] = -1
    parts = x.split([1, 2], dim=1)
    return [x[..., None, 0], torch.cat(parts, 1).unique(), x.max(dim=1).indices, f"{x.mean():.3f}", x.tolist(), len(x)]


def _traced() -> Any:
    """A trace notes sizes that were asked for, in lists and alone."""

    def flat(x: Tensor) -> Tensor:
        wide = torch.zeros(x.size(0), x.numel()).new_ones([x.size(1), 2])
        return x.view(x.size(0), -1).narrow(1, 0, x.size(1)).sum() + wide.sum(dim=[0, 1])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(flat, torch.ones(2, 3, 4), check_trace=False)
    return [re.sub(r" #.*", "", str(traced.graph)), traced(torch.ones(3, 5, 1))]


PROGRAMS: dict[str, Callable[[], Any]] = {
    "a convolutional network in training": _images,
    "a transformer layer in training": _attention,
    "a recurrent network in training": _sequences,
    "algebra with gradients": _algebra,
    "words": _words,
    "indices and printing": _indexed,
    "a trace": _traced,
}
SHORT = ("algebra with gradients",)  # calls functions of linalg, fft and special
