"""A model that recognises the direction of stripes, for a C++ program that trains it.

`python model.py FOLDER` exports it: FOLDER gets net.pt2, its state, its constants and the data. With `--bf16`, it
computes in bfloat16 where autocast does. `python model.py FOLDER --check` loads the state that the program has saved.
"""

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import torch
import torch.nn.functional as F
from tensors import load, save
from torch import Tensor, nn

WIDTH, HEADS, PATCHES, SIZE, CLASSES = 16, 2, 16, 16, 4
BATCH, BATCHES = 32, 4


class Attention(nn.Module):
    """Self-attention."""

    def __init__(self) -> None:
        super().__init__()
        self.mixed, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        shape = (batch, length, HEADS, WIDTH // HEADS)
        q, k, v = (each.view(shape).transpose(1, 2) for each in self.mixed(x).split(WIDTH, dim=2))
        weights = (q @ k.transpose(-2, -1) * (WIDTH // HEADS) ** -0.5).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, WIDTH))


class Block(nn.Module):
    """A layer of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = Attention()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.narrow(F.gelu(self.wide(self.norm2(x))))


class Net(nn.Module):
    """A vision transformer: patches by a convolution with batch norm, layers, a head; with its loss."""

    def __init__(self, *, bf16: bool = False) -> None:
        super().__init__()
        self.bf16 = bf16
        self.patches = nn.Conv2d(1, WIDTH, 4, stride=4)
        self.norm = nn.BatchNorm2d(WIDTH)
        self.register_buffer("places", places(), persistent=False)
        self.layers = nn.Sequential(Block(), Block())
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, images: Tensor, labels: Tensor) -> Tensor:
        lower: AbstractContextManager[object] = nullcontext()
        if self.bf16:
            lower = torch.autocast("cpu", dtype=torch.bfloat16)
        with lower:
            x = self.norm(self.patches(images)).relu().flatten(2).transpose(1, 2)
            scores = self.head(self.layers(x + self.places).mean(1))
        return F.cross_entropy(scores.float(), labels)


def places() -> Tensor:
    """The positions of patches as sines and cosines."""
    rates = torch.exp(torch.arange(0, WIDTH, 2) * -0.5)
    angles = torch.arange(PATCHES)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], 1)


def data() -> tuple[Tensor, Tensor]:
    """Images of stripes in four directions, with noise, and the numbers of their directions."""
    labels = torch.randint(CLASSES, (BATCH * BATCHES,))
    y, x = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    angles = labels[:, None, None] * (torch.pi / CLASSES)
    stripes = torch.sin(x * angles.cos() + y * angles.sin() + torch.rand(len(labels), 1, 1) * 6)
    return (stripes + 0.3 * torch.randn(len(labels), SIZE, SIZE))[:, None], labels


def made(*, bf16: bool = False) -> Net:
    """The model, with the same weights each time."""
    torch.manual_seed(0)
    return Net(bf16=bf16)


def export(folder: Path, *, bf16: bool) -> None:
    """Writes all that the program needs."""
    model = made(bf16=bf16)
    images, labels = data()
    program = torch.export.export(model, (images[:BATCH], labels[:BATCH]))
    folder.mkdir(parents=True, exist_ok=True)
    torch.export.save(program, folder / "net.pt2")
    save(folder / "start.safetensors", model.state_dict())
    save(folder / "constants.safetensors", program.constants)
    save(folder / "data.safetensors", {"images": images, "labels": labels})


def check(folder: Path) -> None:
    """Loads the trained state, and prints the loss that it has in Python."""
    model = made()
    model.load_state_dict(load(folder / "trained.safetensors"))
    read = load(folder / "data.safetensors")
    with torch.no_grad():
        print(f"in Python: loss {model.eval()(read['images'], read['labels']):.6f}")


if __name__ == "__main__":
    if "--check" in sys.argv[2:]:
        check(Path(sys.argv[1]))
    else:
        export(Path(sys.argv[1]), bf16="--bf16" in sys.argv[2:])
