"""Exports a small model: `python model.py FOLDER` writes net.pt2, and start.pt with initial weights and data."""

import sys
from pathlib import Path

import torch
from torch import Tensor, nn


class Net(nn.Module):
    """Two layers and a loss."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 32)
        self.act = nn.ReLU(inplace=True)
        self.second = nn.Linear(32, 1)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return nn.functional.mse_loss(self.second(self.act(self.first(x))), y)


def main(folder: Path) -> None:
    torch.manual_seed(0)
    model = Net()
    x = torch.rand(64, 2) * 2 - 1
    y = (x[:, :1] * x[:, 1:]).sin()
    folder.mkdir(parents=True, exist_ok=True)
    torch.export.save(torch.export.export(model, (x, y)), folder / "net.pt2")
    torch.save([*(parameter.detach() for parameter in model.parameters()), x, y], folder / "start.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
