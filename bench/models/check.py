"""Compares a model's graph with eager, in a separate process: `python -m bench.models.check NAME FOLDER [--time]`.

Prints one JSON object: the relative distances of the loss, gradients and buffers of one step and of the losses of ten
steps of SGD, and if these are far, how far eager's own losses go apart when the last bit of each parameter is changed;
bytes held between forward and backward, and the peak above what was there before; with `--time`, the CPU
time of a step of each way, and what AOTAutograd holds. One thread, so sums are in one order.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from functorch.compile import aot_function, nop
from torch import Tensor, nn
from torch.func import functional_call

from bench.models import zoo

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tests"))

from graphs.allocations import held_and_peak

STEPS, RATE = 10, 0.01
TOLERANCE = 1e-5  # relative
ROUNDS = 5
AOT = "aot_function"
LISTS = ("PARAMETER", "BUFFER", "CONSTANT_TENSOR")

Loss = Callable[[], Tensor]


def graph(name: str, folder: Path, model: nn.Module) -> Loss:
    """The loss as the loaded operator computes it, from the model's tensors and its inputs."""
    operator = getattr(torch.ops.zoo, name)
    own: dict[str, Tensor] = {
        **torch.load(folder / "constants.pt"),
        **dict(model.named_parameters(remove_duplicate=False)),
        **dict(model.named_buffers(remove_duplicate=False)),
    }
    data = iter(zoo.inputs(name))
    kinds = [
        (kind, own[key] if kind in LISTS else next(data))
        for kind, key in json.loads((folder / "inputs.json").read_text())
    ]
    if len(operator.default._schema.arguments) == len(kinds):
        return partial(operator, *(tensor for _, tensor in kinds))
    lists = [[tensor for kind, tensor in kinds if kind == each] for each in LISTS]
    users = [tensor for kind, tensor in kinds if kind not in LISTS]
    return partial(operator, *filter(None, lists), *users)


def distance(one: Tensor, other: Tensor, least: float = 0.0) -> float:
    """The largest difference, relative to the largest element of the first, or `least`."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return float("inf")
    if one.numel() == 0 or torch.equal(one, other):
        return 0.0
    one, other = one.detach().double(), other.detach().double()
    return float((one - other).abs().max() / max(one.abs().max().item(), least, 1e-30))


def gradients(eager: nn.Module, ours: nn.Module) -> tuple[float, str]:
    """The largest distance of a gradient, and its name. A gradient that is only rounding is compared with others."""
    found = [
        (name, one.grad, other.grad)
        for (name, one), (_, other) in zip(eager.named_parameters(), ours.named_parameters())
    ]
    largest = max((float(one.abs().max()) for _, one, _ in found if one is not None), default=0.0)
    worst = (0.0, "")
    for name, one, other in found:
        if one is None and other is None:
            continue
        if one is None or other is None:
            present = one if one is not None else other
            assert present is not None
            far = float("inf") if bool(present.any()) else 0.0
        else:
            far = distance(one, other, largest * 1e-5)
        worst = max(worst, (far, name))
    return worst


def step(loss: Loss, model: nn.Module, optimizer: torch.optim.Optimizer, seed: int) -> float:
    torch.manual_seed(seed)
    optimizer.zero_grad()
    result = loss()
    result.backward()
    optimizer.step()
    return result.item()


def train(loss: Loss, model: nn.Module) -> list[float]:
    """The losses of ten steps of SGD."""
    optimizer = torch.optim.SGD(model.parameters(), RATE)
    return [step(loss, model, optimizer, seed) for seed in range(STEPS)]


def apart(losses: list[float], others: list[float]) -> float:
    """The largest difference of two losses, relative to the first."""
    return max(abs(one - other) / max(abs(one), 1e-30) for one, other in zip(losses, others, strict=True))


def drift(name: str) -> float:
    """How far the losses of eager go apart if its parameters at the start differ in their last bits.

    A model that is sensitive to rounding cannot be trained twice with equal losses, unless all sums are in one order.
    """
    losses = []
    for changed in (False, True):
        model = zoo.model(name)
        if changed:
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.copy_(parameter.nextafter(parameter + torch.randn_like(parameter)))
        losses.append(train(partial(model, *zoo.inputs(name)), model))
    return apart(*losses)


def compare(name: str, folder: Path) -> dict[str, Any]:
    """One step, and then ten of SGD, of eager and the graph."""
    eager, ours = zoo.model(name), zoo.model(name)
    ways = {"eager": (eager, partial(eager, *zoo.inputs(name))), "graph": (ours, graph(name, folder, ours))}
    losses, trained = [], []
    for _, loss in ways.values():
        torch.manual_seed(3)
        losses.append(loss())
        losses[-1].backward()
        losses[-1] = losses[-1].detach()
    gradient, where = gradients(eager, ours)
    buffers = max((distance(one, other) for one, other in zip(eager.buffers(), ours.buffers())), default=0.0)
    for model, loss in ways.values():
        trained.append(train(loss, model))
    steps = apart(*trained)
    return {
        "forward": distance(*losses),
        "gradients": gradient,
        "worst": where,
        "buffers": buffers,
        "steps": steps,
        "losses": trained[0],
        "drift": drift(name) if steps > TOLERANCE else None,
        "memory": {way: memory(*each) for way, each in ways.items()},
    }


def memory(model: nn.Module, loss: Loss) -> dict[str, int]:
    """Bytes that live after the forward, and the most that live at once in a step, without what was there before."""
    model.zero_grad()
    held, peak = held_and_peak(loss, lambda result: result.backward())
    return {"held": held, "peak": peak}


def ways_of(name: str, folder: Path) -> dict[str, Callable[[], tuple[nn.Module, Loss]]]:
    """How each way gets its model and loss."""

    def eager() -> tuple[nn.Module, Loss]:
        model = zoo.model(name)
        return model, partial(model, *zoo.inputs(name))

    def ours() -> tuple[nn.Module, Loss]:
        model = zoo.model(name)
        return model, graph(name, folder, model)

    def of_aot() -> tuple[nn.Module, Loss]:
        module = torch.export.export(zoo.model(name), zoo.inputs(name)).module()  # some models test values in Python
        state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        return module, partial(aot_function(partial(functional_call, module), nop), state, zoo.inputs(name))

    def compiled(backend: str) -> tuple[nn.Module, Loss]:
        model = zoo.model(name)
        return model, partial(torch.compile(model, backend=backend), *zoo.inputs(name))

    return {
        "eager": eager,
        "graph": ours,
        AOT: of_aot,
        "aot_eager": partial(compiled, "aot_eager"),
        "inductor": partial(compiled, "inductor"),
    }


def measured(name: str, folder: Path) -> tuple[dict[str, float | str], dict[str, int] | None]:
    """CPU seconds of a step, forward and backward: the least of some rounds, in turns. The memory of AOTAutograd."""
    steps, found = {}, dict[str, Any]()
    for way, make in ways_of(name, folder).items():
        try:
            model, loss = make()
            seconds(model, loss)
            steps[way] = (model, loss)
        except Exception as error:  # the row says why this way has no figure
            found[way] = f"{type(error).__name__}: {str(error)[:200]}"
    for _ in range(ROUNDS):
        for way, (model, loss) in steps.items():
            found[way] = min(found.get(way, float("inf")), seconds(model, loss))
    return found, memory(*steps[AOT]) if AOT in steps else None


def seconds(model: nn.Module, loss: Loss) -> float:
    model.zero_grad()
    start = time.process_time()
    loss().backward()
    return time.process_time() - start


def main(name: str, folder: Path, *, timed: bool) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.ops.load_library(str(folder / f"{name}.so"))
    row = compare(name, folder)
    if timed:
        row["seconds"], held = measured(name, folder)
        row["memory"] |= {AOT: held} if held else {}
    print(json.dumps(row))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), timed="--time" in sys.argv[3:])
