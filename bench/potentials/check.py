"""Compares the graphs of a potential with eager, in a separate process: `python -m bench.potentials.check NAME FOLDER`.

Prints one JSON object: how far energies, forces, stresses and the gradients of parameters are from eager's, how far ten
steps of the C++ programs are, and the time and memory of a step of each way, next to eager and TorchScript. There is
one thread, so sums are in one order; times are of the processor.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bench.potentials import export, zoo

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tests"))

from graphs.allocations import held_and_peak

STEPS, RATES, ROUNDS = 10, {"sgd": 1e-5, "adam": 0.01}, 30
OPTIMIZERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}
PREDICTED = ("energies", "forces", "stresses")

Frame = dict[str, Tensor]
Predict = Callable[..., tuple[Tensor, Tensor, Tensor]]


class Ways(NamedTuple):
    """A potential, and what predicts with its parameters: each way takes the inputs of the example's `predict`."""

    model: nn.Module
    predict: dict[str, Predict]


def ways(name: str, folder: Path, frame: Frame) -> Ways:
    """The ways to compute: the model, its trace, the graph of all, the graph of energies."""
    model = zoo.made(name)
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    inputs = [frame[each] for each in export.example.NAMES]
    traced = torch.jit.trace(model, (inputs[0], torch.zeros_like(frame["cells"]), *inputs[1:]), check_trace=False)

    def operator(which: str) -> Callable[..., Any]:
        torch.ops.load_library(str(folder / which / f"{which}.so"))
        found = getattr(torch.ops.gradmill, which)
        kinds = [(kind, state[key]) for kind, key in json.loads((folder / which / "inputs.json").read_text())]
        if len(found.default._schema.arguments) == len(kinds) + len(inputs) + (which == "energy"):
            return partial(found, *(each for _, each in kinds))
        lists = [
            [each for kind, each in kinds if kind == wanted] for wanted in dict.fromkeys(kind for kind, _ in kinds)
        ]
        return partial(found, *lists)

    predict = export.example.predict
    return Ways(
        model,
        {
            "eager": partial(predict, model),
            "TorchScript": partial(predict, traced),
            "graph": operator("potential"),
            "by autograd": partial(predict, operator("energy")),
        },
    )


def loss_of(predict: Predict, frame: Frame) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor]]:
    """The loss of a batch, as in the example's program, and what it is of."""
    positions, *others = (frame[each] for each in export.example.NAMES)
    predicted = predict(positions.detach(), *others)
    losses = [F.mse_loss(each, frame[name]) for name, each in zip(PREDICTED, predicted)]
    return losses[0] + losses[1] + losses[2], predicted


def far(one: Tensor, other: Tensor) -> float:
    """The largest difference, relative to the largest element if that is more than one."""
    return float((one - other).detach().abs().max() / one.detach().abs().max().clamp(min=1))


def step(model: nn.Module, predict: Predict, frame: Frame) -> tuple[dict[str, Tensor], list[Tensor]]:
    """What is predicted, and the gradients of parameters."""
    loss, predicted = loss_of(predict, frame)
    return dict(zip(PREDICTED, predicted)), list(torch.autograd.grad(loss, list(model.parameters())))


def distances(found: Ways, frames: list[Frame]) -> dict[str, dict[str, float]]:
    """The largest distances of each way from eager, over all batches."""
    rows: dict[str, dict[str, float]] = {}
    for way in ("graph", "by autograd"):
        row = dict.fromkeys((*PREDICTED, "gradients"), 0.0)
        for frame in frames:
            expected, gradients = step(found.model, found.predict["eager"], frame)
            actual, own = step(found.model, found.predict[way], frame)
            for name, each in expected.items():
                row[name] = max(row[name], far(each, actual[name]))
            row["gradients"] = max(row["gradients"], *map(far, gradients, own))
        rows[way] = row
    return rows


def trained(name: str, optimizer: str, frames: list[Frame]) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """The model after ten steps in eager, and what it then predicts for the first batch."""
    model = zoo.made(name)
    steps = OPTIMIZERS[optimizer](list(model.parameters()), RATES[optimizer])
    predict = partial(export.example.predict, model)
    for number in range(STEPS):
        steps.zero_grad()
        loss_of(predict, frames[number % len(frames)])[0].backward()
        steps.step()
    return model, loss_of(predict, frames[0])[1]


def programs(name: str, folder: Path, frames: list[Frame]) -> dict[str, dict[str, float]]:
    """How far each C++ program is from eager after ten steps: its parameters, and what they predict."""
    found: dict[str, dict[str, float]] = {}
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    for optimizer in OPTIMIZERS:
        model, predicted = trained(name, optimizer, frames)
        for way, which in (("graph", "potential"), ("by autograd", "energy")):
            words = [str(folder / which / "train"), str(folder), optimizer, f"--rate={RATES[optimizer]}"]
            subprocess.run([*words, f"--steps={STEPS}"], env=environment, check=True, capture_output=True)
            state = export.example.load(folder / "trained.safetensors")
            actual = export.example.load(folder / "predicted.safetensors")
            values = [far(each, state[key]) for key, each in model.named_parameters()]
            values += [far(each, actual[key]) for key, each in zip(PREDICTED, predicted)]
            found.setdefault(way, {})[optimizer] = max(values)
    return found


def seconds(found: Ways, frame: Frame) -> dict[str, float]:
    """The time of a step of each way: predictions, loss, gradients of parameters; the least of rounds in turns."""
    least = dict.fromkeys(found.predict, float("inf"))
    for _ in range(ROUNDS):
        for way, predict in found.predict.items():
            start = time.process_time()
            step(found.model, predict, frame)
            least[way] = min(least[way], time.process_time() - start)
    return least


def memory(found: Ways, frame: Frame) -> dict[str, tuple[int, int]]:
    """Bytes between the loss and its backward, and the most in a step."""
    rows = {}
    for way, predict in found.predict.items():
        parameters = list(found.model.parameters())
        forward = partial(lambda predict: loss_of(predict, frame)[0], predict)
        rows[way] = held_and_peak(forward, lambda loss, given=parameters: torch.autograd.grad(loss, given))
    return rows


def main(name: str, folder: Path) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    frames = export.frames(name)
    found = ways(name, folder, frames[0])
    row = {
        "parameters": sum(each.numel() for each in found.model.parameters()),
        "atoms": len(frames[0]["numbers"]),
        "edges": frames[0]["edges"].shape[1],
        "distances": distances(found, frames),
        "steps": programs(name, folder, frames),
        "seconds": seconds(found, frames[0]),
        "memory": memory(found, frames[0]),
    }
    print(json.dumps(row))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
