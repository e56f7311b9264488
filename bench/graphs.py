"""One training step of small models: gradmill's graph, eager, and PyTorch's own ways to trace a step.

    python bench/graphs.py [ROUNDS]

In one process, in turns: eager; the graph as an operator called from Python; `aot_function` with no-op compilers;
`torch.compile(backend="aot_eager")`. A step is forward and backward of the loss; the figure is the median of the
rounds, in microseconds. The row below has the bytes saved between forward and backward.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import torch  # noqa: E402
from graphs import library, models  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch._functorch.aot_autograd import aot_function  # noqa: E402
from torch._functorch.compilers import nop  # noqa: E402
from torch.func import functional_call  # noqa: E402
from torch.profiler import ProfilerActivity, profile  # noqa: E402

Step = Callable[[], Tensor]
INNER = 20  # steps per round


def build(folder: Path, names: list[str]) -> dict[str, list[tuple[str, str]]]:
    """Builds all models as operators and loads them. Returns the (kind, target) of each input, by model."""
    exported = folder / "exported"
    exported.mkdir()
    specs = {}
    for name in names:
        program = torch.export.export(models.model(name), models.inputs(name))
        torch.export.save(program, exported / f"{name}.pt2")
        specs[name] = [(s.kind.name, s.target or s.arg.name) for s in program.graph_signature.input_specs]
    generated = library.generate(exported, folder, "bench", "torch")
    sources = sorted((generated / "graphs").glob("*.cpp"))
    objects = [library.compiled(source, generated, optimize="-O2") for source in sources]
    torch.ops.load_library(str(library.linked(objects, folder / "bench.so")))
    return specs


def arguments_of(model: nn.Module, spec: list[tuple[str, str]], inputs: tuple[Tensor, ...]) -> list[Tensor]:
    """The arguments of a graph, in its order."""
    own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    rest = iter(inputs)
    return [own[target] if kind in ("PARAMETER", "BUFFER") else next(rest) for kind, target in spec]


def ways(name: str, spec: list[tuple[str, str]]) -> dict[str, tuple[nn.Module, Step]]:
    """The loss of a step in each way, each with its own model."""
    inputs = models.inputs(name)
    eager, ours, aot, compiled = (models.model(name) for _ in range(4))
    operator = getattr(torch.ops.bench, name)
    arguments = arguments_of(ours, spec, inputs)
    state = {**dict(aot.named_parameters()), **dict(aot.named_buffers())}
    traced = aot_function(lambda *flat: functional_call(aot, dict(zip(state, flat)), flat[len(state) :]), nop)
    values = [*state.values(), *inputs]
    step = torch.compile(compiled, backend="aot_eager")
    return {
        "eager": (eager, lambda: eager(*inputs)),
        "gradmill": (ours, lambda: operator(*arguments)),
        "aot_function": (aot, lambda: traced(*values)),
        "aot_eager": (compiled, lambda: step(*inputs)),
    }


def timed(model: nn.Module, step: Step) -> float:
    """Microseconds per step."""
    start = time.perf_counter()
    for _ in range(INNER):
        model.zero_grad()
        step().backward()
    return (time.perf_counter() - start) / INNER * 1e6


def saved_bytes(model: nn.Module, step: Step) -> int:
    """Bytes allocated by the forward and still allocated after it: the loss, and tensors saved for the backward."""
    model.zero_grad()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        loss = step()
    allocated = sum(event.self_cpu_memory_usage for event in seen.events())
    del loss
    return int(allocated)


def main(rounds: int) -> None:
    """Measures all models and prints a table."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    names = list(models.CASES) if not sys.argv[2:] else sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        specs = build(Path(folder), names)
        print(f"{'':14}" + "".join(f"{way:>14}" for way in ("eager", "gradmill", "aot_function", "aot_eager")))
        for name in names:
            steps = ways(name, specs[name])
            for model, step in steps.values():
                timed(model, step)
            times: dict[str, list[float]] = {way: [] for way in steps}
            for _ in range(rounds):
                for way, (model, step) in steps.items():
                    times[way].append(timed(model, step))
            row: dict[str, Any] = {way: statistics.median(all_) for way, all_ in times.items()}
            print(f"{name:14}" + "".join(f"{value:14.1f}" for value in row.values()), flush=True)
            bytes_ = {way: saved_bytes(model, step) for way, (model, step) in steps.items()}
            print(f"{'  bytes':14}" + "".join(f"{value:14}" for value in bytes_.values()), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
