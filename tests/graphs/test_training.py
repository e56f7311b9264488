"""The program of examples/graphs, with a model that has state of all kinds: it trains as eager does, reads and writes
its state, and refuses files that are not of the model. No Python is in its process.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from cpp import toolchain
from project import ROOT
from torch import Tensor, nn
from torch_seed import seed_torch

from graphs import library

sys.path.insert(0, str(ROOT / "examples" / "graphs"))
import tensors

sys.path.pop(0)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing()),
    pytest.mark.filterwarnings("ignore"),
]

STEPS, BATCH = 100, 32
TOLERANCE = 1e-5
# The relative distance of neighbours in bfloat16. Adam of libtorch computes moments with `mul_` and `add_`, that of
# Python with `lerp_`. So the last bits of parameters differ, and some of these round to another neighbour.
ROUNDED = 2**-8
CLIP = 0.3
RATES = {"sgd": 0.03, "adam": 0.003, "adamw": 0.003}


class Net(nn.Module):
    """Batch norm, layers that share a weight, a transposed weight, a frozen scale, constants, one of them expanded."""

    def __init__(self, *, bf16: bool = False) -> None:
        super().__init__()
        self.bf16 = bf16
        self.conv = nn.Conv2d(1, 8, 3, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)
        self.second.weight = self.first.weight
        self.turned = nn.Parameter(torch.randn(3, 8).t())
        self.scale = nn.Parameter(torch.full((8,), 1.5), requires_grad=False)
        self.register_buffer("same", torch.full((1,), 0.5).expand(8), persistent=False)
        self.register_buffer("mask", torch.ones(8), persistent=False)
        self.mask[0] = 0

    def forward(self, images: Tensor, labels: Tensor) -> Tensor:
        # With its cache, autocast casts a shared weight once, and sums its gradients in bfloat16, not in float32.
        with torch.autocast("cpu", torch.bfloat16, cache_enabled=False) if self.bf16 else nullcontext():
            x = self.norm(self.conv(images)).relu().mean((2, 3)) * self.mask
            x = self.second(self.first(x * self.scale).tanh() + self.same).tanh()
            scores = x @ self.turned
        return F.cross_entropy(scores.float(), labels)


def made(*, bf16: bool = False) -> Net:
    """The model, with the same weights each time."""
    seed_torch(3)
    return Net(bf16=bf16)


class Program:
    """A model and the program that trains it."""

    def __init__(self, folder: Path, *, bf16: bool) -> None:
        self.folder, self.bf16, model = folder, bf16, made(bf16=bf16)
        seed_torch(4)
        self.images, self.labels = torch.randn(4 * BATCH, 1, 6, 6), torch.randint(3, (4 * BATCH,))
        exported = torch.export.export(model, (self.images[:BATCH], self.labels[:BATCH]))
        torch.export.save(exported, folder / "net.pt2")
        tensors.save(folder / "start.safetensors", model.state_dict())
        tensors.save(folder / "constants.safetensors", exported.constants)
        tensors.save(folder / "data.safetensors", {"images": self.images, "labels": self.labels})
        self.build()

    def build(self) -> None:
        generated = library.generate(self.folder / "net.pt2", self.folder, "trained", "torch")
        both = library.together(generated, ROOT / "examples" / "graphs" / "train.cpp")
        library.linked([both], self.folder / "train", "-pie")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        command = [str(self.folder / "train"), str(self.folder), *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def trained(self, optimizer: str, steps: int = STEPS, *more: str) -> list[float]:
        """The losses of all steps."""
        words = [f"--rate={RATES[optimizer]}", f"--clip={CLIP}", f"--steps={steps}", "--every=1", *more]
        ended = self.run(optimizer, *words)
        assert ended.returncode == 0, ended.stderr
        return [float(loss) for loss in re.findall(r"loss (\S+)", ended.stdout)]

    def batch(self, step: int) -> tuple[Tensor, Tensor]:
        rows = slice(step % 4 * BATCH, (step % 4 + 1) * BATCH)
        return self.images[rows], self.labels[rows]

    def eager(self, optimizer: str) -> tuple[nn.Module, list[float]]:
        """The model trained by Python in the same way, and its losses; clipping has an effect on some steps."""
        model, losses, norms = made(bf16=self.bf16), [], []
        steps = OPTIMIZERS[optimizer](list(model.parameters()))
        for step in range(STEPS):
            steps.zero_grad()
            loss = model(*self.batch(step))
            loss.backward()
            norms.append(float(nn.utils.clip_grad_norm_(model.parameters(), CLIP)))
            steps.step()
            losses.append(loss.item())
        assert 0 < sum(norm > CLIP for norm in norms) < STEPS
        assert losses[-1] < losses[0]
        return model, losses


OPTIMIZERS: dict[str, Callable[[list[nn.Parameter]], torch.optim.Optimizer]] = {
    "sgd": lambda trained: torch.optim.SGD(trained, RATES["sgd"], momentum=0.9),
    "adam": lambda trained: torch.optim.Adam(trained, RATES["adam"]),
    "adamw": lambda trained: torch.optim.AdamW(trained, RATES["adamw"], weight_decay=0.01),
}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Sums are in one order, as in the program."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def distance(losses: list[float], expected: list[float]) -> float:
    assert len(losses) == len(expected) == STEPS
    return max(abs(one - other) for one, other in zip(losses, expected))


@pytest.mark.slow(35)
def test_a_program_trains_as_eager_does_and_keeps_its_state(tmp_path: Path) -> None:
    program = Program(tmp_path, bf16=False)
    assert_no_python(program)
    for optimizer in OPTIMIZERS:
        model, expected = program.eager(optimizer)
        assert distance(program.trained(optimizer), expected) < TOLERANCE, optimizer
        assert_saved(program, model)
        assert_resumes(program, optimizer)
    assert_resumes_only_what_belongs_together(program)
    assert_continues(program)
    assert_refuses_other_states(program)


@pytest.mark.slow(35)
def test_a_program_trains_in_bfloat16_as_eager_does(tmp_path: Path) -> None:
    program = Program(tmp_path, bf16=True)
    for optimizer in OPTIMIZERS:
        _, expected = program.eager(optimizer)
        tolerance = TOLERANCE if optimizer == "sgd" else ROUNDED * expected[0]
        assert distance(program.trained(optimizer), expected) < tolerance, optimizer
    saved = tensors.load(tmp_path / "trained.safetensors")
    assert {name: each.dtype for name, each in saved.items()} == {k: v.dtype for k, v in made().state_dict().items()}


def assert_no_python(program: Program) -> None:
    needed = subprocess.run(["ldd", str(program.folder / "train")], capture_output=True, text=True, check=True).stdout
    assert "libtorch_cpu" in needed
    assert "python" not in needed.replace("python3.11/site-packages/torch/lib", "")


def assert_saved(program: Program, model: nn.Module) -> None:
    """The saved state is the one of the model that Python trained, and a model takes it as it is."""
    saved = tensors.load(program.folder / "trained.safetensors")
    again = made()
    again.load_state_dict(saved)
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], tensor, rtol=1e-4, atol=1e-5, msg=name)
        assert torch.equal(again.state_dict()[name], saved[name])
    assert not torch.equal(saved["first.weight"], made().first.weight)
    assert torch.equal(saved["scale"], made().scale)


def assert_resumes(program: Program, optimizer: str) -> None:
    """With a break, the losses are the same numbers, and so is the state at the end."""
    whole = program.trained(optimizer)
    expected = tensors.load(program.folder / "trained.safetensors")
    first = program.trained(optimizer, STEPS // 3)
    rest = program.trained(optimizer, STEPS - STEPS // 3, "--resume")
    assert [*first, *rest] == whole
    found = tensors.load(program.folder / "trained.safetensors")
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in found)


def assert_resumes_only_what_belongs_together(program: Program) -> None:
    """After an error, both files are as they were."""
    state, trained = program.folder / "optimizer.pt", program.folder / "trained.safetensors"
    kept, before = state.read_bytes(), trained.read_bytes()

    def refused(optimizer: str, message: str) -> None:
        ended = program.run(optimizer, "--steps=1", "--resume")
        assert (ended.returncode, ended.stdout) == (1, "")
        assert ended.stderr.startswith(f"{state}: ") and message in ended.stderr, ended.stderr
        assert trained.read_bytes() == before

    refused("sgd", "it is the state of adamw, not of sgd")
    saved = tensors.load(trained)
    tensors.save(trained, {**saved, "second.bias": saved["second.bias"] + 1})
    before, own = trained.read_bytes(), before
    refused("adamw", "it does not belong to trained.safetensors")
    trained.write_bytes(own)
    before = own
    state.write_bytes(kept[: len(kept) // 2])
    refused("adamw", "it cannot be read")
    state.unlink()
    refused("adamw", "it is missing: train without --resume first")


def assert_continues(program: Program) -> None:
    """The program reads what it saved, and Python computes the same loss from it. One of two tied names is enough."""
    saved = tensors.load(program.folder / "trained.safetensors")
    model = made()
    model.load_state_dict(saved)
    expected = model(*program.batch(0)).item()
    for left_out in ("", "first.weight", "second.weight"):
        tensors.save(program.folder / "start.safetensors", {k: v for k, v in saved.items() if k != left_out})
        ended = program.run("--steps=1")
        assert ended.returncode == 0, ended.stderr
        (loss,) = re.findall(r"loss (\S+)", ended.stdout)
        assert abs(float(loss) - expected) < TOLERANCE


def changed(**values: Tensor | None) -> bytes:
    """A state of the model with some entries changed, or left out."""
    state = {**made().state_dict(), **{name.replace("__", "."): each for name, each in values.items()}}
    return packed({name: each for name, each in state.items() if each is not None})


def packed(state: dict[str, Tensor]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        tensors.save(Path(folder) / "x", state)
        return (Path(folder) / "x").read_bytes()


def headed(edit: Callable[[Any], Any]) -> bytes:
    """A file of two tensors with another header."""
    data = packed({"a": torch.ones(2), "b": torch.ones(2)})
    length = int.from_bytes(data[:8], "little")
    text = edit(json.loads(data[8 : 8 + length]))
    text = text if isinstance(text, bytes) else json.dumps(text).encode()
    return len(text).to_bytes(8, "little") + text + data[8 + length :]


def entry(**values: object) -> bytes:
    """A file whose entry `b` has other fields."""
    return headed(lambda header: {**header, "b": {**header["b"], **values}})


def refused_states() -> dict[str, bytes]:
    """What the error says, and the file."""
    bias = made().first.bias
    return {
        "'first.bias' is missing; the model has F32 [8]": changed(first__bias=None),
        "'more' is surplus; it is F64 [2]": changed(more=torch.ones(2, dtype=torch.float64)),
        "'first.bias' is F32 [7]; the model has F32 [8]": changed(first__bias=bias[:7]),
        "'first.bias' is F64 [8]; the model has F32 [8]": changed(first__bias=bias.double()),
        "'first.bias' is missing; the model has F32 [8]\n  'more' is surplus": changed(first__bias=None, more=bias),
        "'first.weight' is missing; the model has F32 [8, 8]": changed(first__weight=None, second__weight=None),
        "'second.weight' is not equal to 'first.weight', and the model": changed(second__weight=torch.ones(8, 8)),
        "it is truncated, or no file of safetensors": b"no",
        "'second.bias' is F32 [8], and has the bytes from 1096 to 1128 of 1127": changed()[:-1],
        "1 bytes follow the last tensor": changed() + b"x",
        "tensors overlap, or leave gaps, at byte 8": entry(data_offsets=[4, 12]),
        "'b' is F32 [3], and has the bytes from 8 to 16 of 16": entry(shape=[3]),
        "'b' is F32 [4611686018427387904, 4], and has": entry(shape=[2**62, 4]),
        "'b' has the dtype F4, which is not supported": entry(dtype="F4"),
        "a number is too large": entry(shape=[2**63]),
        "a number is missing": entry(shape=[-2]),
        "'b' has 1 offsets": entry(data_offsets=[8]),
        "'b' has an unknown field 'size'": entry(size=[2]),
        "'b' lacks a dtype, a shape or offsets": headed(lambda header: {**header, "b": {}}),
        "'a' is there twice": headed(lambda header: json.dumps(header).replace('"b"', '"\\u0061"').encode()),
        "at byte 9: '\"' is missing": headed(lambda _: b"{3}"),
        "a text does not end": headed(lambda _: b'{"a'),
        "half of a pair of surrogates": headed(lambda _: rb'{"\ud83d":1}'),
        "text follows the object": headed(lambda _: b"{}{}"),
    }


def assert_refuses_other_states(program: Program) -> None:
    (program.folder / "trained.safetensors").unlink()
    start = program.folder / "start.safetensors"
    for message, data in refused_states().items():
        start.write_bytes(data)
        ended = program.run()
        assert (ended.returncode, ended.stdout) == (1, ""), message
        assert ended.stderr.startswith(f"{start}: ") and message in ended.stderr, (message, ended.stderr)
    start.unlink()
    assert f"{start}: it cannot be read\n" in program.run().stderr
    assert not (program.folder / "trained.safetensors").exists()
