"""Compares a model's graph with eager, in a separate process: `python -m bench.models.check NAME FOLDER BATCH DEVICE
[WAY…]`.

Prints one JSON object: the relative distances of the loss, gradients and buffers of one step and of the losses of ten
steps of SGD, and if these are far, how far eager's own losses go apart when the last bit of each parameter is changed;
bytes held between forward and backward, and the peak above what was there before; for each way that is named, the time
of a step, and what it holds. On the CPU there is one thread, so sums are in one order, and times are of the processor;
on another device they are of the wall, until the device is done. Only one process at a time uses such a device. What
runs there may add in any order, so the distance of eager's gradients from those of another run is printed, too.
"""

from __future__ import annotations

import contextlib
import copy
import fcntl
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from functorch.compile import aot_function, nop
from torch import Tensor, nn
from torch.func import functional_call

from bench.models import zoo

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tests"))

from graphs.allocations import held_and_peak

STEPS, RATE = 10, 0.01
ROUNDS = 5
AT_ONCE = 5  # steps that are measured together, on a device
LISTS = ("PARAMETER", "BUFFER", "CONSTANT_TENSOR")

Loss = Callable[[], Tensor]


class Subject(NamedTuple):
    """A model, where it is, and the inputs that it is called with."""

    name: str
    folder: Path
    batch: int
    device: str
    namespace: str = "zoo"  # of its graph's operator

    def model(self) -> nn.Module:
        """The model, the same one each time."""
        return copy.deepcopy(_made(self.name)).to(self.device)

    def inputs(self) -> tuple[Tensor, ...]:
        """Its inputs, the same ones each time."""
        return zoo.inputs(self.name, self.batch, self.device)


@cache
def _made(name: str) -> nn.Module:
    return zoo.model(name)


def graph(subject: Subject, model: nn.Module) -> Loss:
    """The loss as the loaded operator computes it, from the model's tensors and its inputs."""
    operator = getattr(getattr(torch.ops, subject.namespace), subject.name)
    constants: dict[str, Tensor] = torch.load(subject.folder / "constants.pt")
    if zoo.CASES[subject.name].exported not in ("", subject.device):
        constants = {name: each.to(subject.device) for name, each in constants.items()}
    own: dict[str, Tensor] = {
        **constants,
        **dict(model.named_parameters(remove_duplicate=False)),
        **dict(model.named_buffers(remove_duplicate=False)),
    }
    data = iter(subject.inputs())
    kinds = [
        (kind, own[key] if kind in LISTS else next(data))
        for kind, key in json.loads((subject.folder / "inputs.json").read_text())
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
    others = dict(ours.named_parameters(remove_duplicate=False))
    found = [(name, one.grad, others[name].grad) for name, one in eager.named_parameters()]
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


def drift(subject: Subject) -> float:
    """How far the losses of eager go apart if its parameters at the start differ in their last bits.

    A model that is sensitive to rounding cannot be trained twice with equal losses, unless all sums are in one order.
    """
    losses = []
    for changed in (False, True):
        model = subject.model()
        if changed:
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.copy_(parameter.nextafter(parameter + torch.randn_like(parameter)))
        losses.append(train(partial(model, *subject.inputs()), model))
    return apart(*losses)


def stepped(model: nn.Module, loss: Loss) -> Tensor:
    """The loss of a step; the gradients are in the model."""
    model.zero_grad()  # exported modules share their parameters
    torch.manual_seed(3)
    result = loss()
    result.backward()
    return result.detach()


def compare(subject: Subject) -> dict[str, Any]:
    """One step, and then ten of SGD, of eager and the graph."""
    eager, ours = subject.model(), subject.model()
    ways = {"eager": (eager, partial(eager, *subject.inputs())), "graph": (ours, graph(subject, ours))}
    losses = [stepped(*each) for each in ways.values()]
    gradient, where = gradients(eager, ours)
    buffers = max((distance(one, other) for one, other in zip(eager.buffers(), ours.buffers())), default=0.0)
    more = {} if subject.device == "cpu" else of_others(subject, eager, ours, losses[1])
    trained = [train(loss, model) for model, loss in ways.values()]
    steps = apart(*trained)
    return {
        "forward": distance(*losses),
        "gradients": gradient,
        "worst": where,
        "buffers": buffers,
        "steps": steps,
        "losses": trained[0],
        "drift": drift(subject) if steps > zoo.CASES[subject.name].tolerance else None,
        "memory": {way: memory(*each) for way, each in ways.items()},
        **more,
    }


def of_others(subject: Subject, eager: nn.Module, ours: nn.Module, loss: Tensor) -> dict[str, Any]:
    """How far gradients of eager are from themselves, computed again; how far the graph is from the exported program,
    which may call other kernels than the model does."""
    model, module = subject.model(), exported(subject)
    stepped(model, partial(model, *subject.inputs()))
    result = stepped(module, partial(module, *subject.inputs()))
    gradient, where = gradients(module, ours)
    found = {"forward": distance(result, loss), "gradients": gradient, "worst": where}
    return {"again": gradients(eager, model)[0], "exported": found}


def exported(subject: Subject) -> nn.Module:
    """The exported program, as a module. All of them share their tensors."""
    return _program(subject).module()


@cache
def _program(subject: Subject) -> torch.export.ExportedProgram:
    return torch.export.export(subject.model(), subject.inputs())


def memory(model: nn.Module, loss: Loss) -> dict[str, int]:
    """Bytes that live after the forward, and the most that live at once in a step, without what was there before."""
    model.zero_grad()
    device = next(model.parameters()).device
    if device.type == "cpu":
        held, peak = held_and_peak(loss, lambda result: result.backward())
        return {"held": held, "peak": peak}
    torch.accelerator.synchronize()
    counted = torch.get_device_module(device)
    before = counted.memory_allocated()
    counted.reset_peak_memory_stats()
    result = loss()
    held = counted.memory_allocated() - before
    result.backward()
    torch.accelerator.synchronize()
    return {"held": held, "peak": counted.max_memory_allocated() - before}


def ways_of(subject: Subject) -> dict[str, Callable[[], tuple[nn.Module, Loss]]]:
    """How each way gets its model and loss. Most share one model: `seconds` and `memory` clear its gradients."""
    model = subject.model()

    def called(module: nn.Module) -> tuple[nn.Module, Loss]:
        return module, partial(module, *subject.inputs())

    def of_aot() -> tuple[nn.Module, Loss]:
        module = exported(subject)  # some models test values in Python
        state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        return module, partial(aot_function(partial(functional_call, module), nop), state, subject.inputs())

    def compiled(backend: str) -> tuple[nn.Module, Loss]:
        return model, partial(torch.compile(model, backend=backend), *subject.inputs())

    return {
        "eager": lambda: called(model),
        "graph": lambda: (model, graph(subject, model)),
        "exported": lambda: called(exported(subject)),
        "aot_function": of_aot,
        "aot_eager": partial(compiled, "aot_eager"),
        "inductor": partial(compiled, "inductor"),
    }


def prepared(subject: Subject, ways: list[str]) -> tuple[dict[str, tuple[nn.Module, Loss]], dict[str, str]]:
    """The model and the loss of each way, after a step; of a way that fails, the reason."""
    steps, failed = {}, {}
    known = ways_of(subject)
    for way in ways:
        try:
            model, loss = known[way]()
            loss().backward()
            model.zero_grad()
            steps[way] = (model, loss)
        except Exception as error:  # the row says why this way has no figure
            failed[way] = f"{type(error).__name__}: {str(error)[:200]}"
    return steps, failed


def seconds(model: nn.Module, loss: Loss) -> float:
    """The time of a step, forward and backward."""
    model.zero_grad()
    if next(model.parameters()).device.type == "cpu":
        start = time.process_time()
        loss().backward()
        return time.process_time() - start
    torch.accelerator.synchronize()
    start = time.perf_counter()
    for _ in range(AT_ONCE):
        loss().backward()
    torch.accelerator.synchronize()
    return (time.perf_counter() - start) / AT_ONCE


def measured(steps: dict[str, tuple[nn.Module, Loss]]) -> tuple[dict[str, float], dict[str, dict[str, int]]]:
    """Seconds of a step of each way, the least of some rounds in turns, and its memory."""
    found = dict.fromkeys(steps, float("inf"))
    for _ in range(ROUNDS):
        for way, each in steps.items():
            found[way] = min(found[way], seconds(*each))
    return found, {way: memory(*each) for way, each in steps.items()}


@contextlib.contextmanager
def alone(subject: Subject) -> Iterator[None]:
    """No other process uses the device meanwhile."""
    if subject.device == "cpu":
        yield
        return
    with (subject.folder.parent / "device.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main(subject: Subject, ways: list[str]) -> None:
    warnings.simplefilter("ignore")
    if subject.device == "cpu":
        torch.set_num_threads(1)
    torch.ops.load_library(str(subject.folder / f"{subject.name}.so"))
    steps, failed = prepared(subject, ways)
    if subject.device != "cpu":
        exported(subject)
    with alone(subject):
        row = compare(subject)
        if ways:
            found, held = measured(steps)
            row["seconds"] = found | failed
            row["memory"] |= held
    print(json.dumps(row))


if __name__ == "__main__":
    main(Subject(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]), sys.argv[5:])
