"""Trains a small network on the toy device: `python train.py FOLDER`, after `python build.py FOLDER`."""

import sys
import time
from pathlib import Path

import torch
from torch import nn
from use import load


class Cubic(nn.Module):
    """An operator of the backend as a layer, with its own derivative."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ops.toy.cube(x) / 10


def main(folder: Path) -> None:
    torch.manual_seed(0)
    load(folder)
    x = torch.linspace(-2, 2, 64).unsqueeze(1).to("toy")
    y = torch.ops.toy.cube(x)
    network = nn.Sequential(nn.Linear(1, 16), nn.Mish(), nn.Linear(16, 16), Cubic(), nn.Linear(16, 1)).to("toy")
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, foreach=False)
    for step in range(301):
        loss = torch.ops.toy.squared_error(network(x), y)
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.4f}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    time.sleep(0.2)  # autograd's thread of the device frees the last graph: it aborts if Python has ended by then


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/toy"))
