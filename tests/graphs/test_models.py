"""Models through torch.export: loss and gradients match eager, and so do ten steps of SGD in C++."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from cpp import toolchain
from torch import Tensor, nn

from graphs import library, models

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing()),
    pytest.mark.filterwarnings("ignore"),
]

TOLERANCE = 1e-10
STEPS, RATE = 10, 0.1
HERE = Path(__file__).parent


class Built:
    """All models, exported, generated, compiled and loaded."""

    def __init__(self, names: Iterable[str], folder: Path) -> None:
        exported = folder / "exported"
        exported.mkdir()
        self.specs: dict[str, list[tuple[str, str]]] = {}
        for name in names:
            program = torch.export.export(models.model(name), models.inputs(name))
            torch.export.save(program, exported / f"{name}.pt2")
            kinds = program.graph_signature.input_specs
            self.specs[name] = [(spec.kind.name, spec.target or spec.arg.name) for spec in kinds]
        self.namespace = f"models_{len(self.specs)}"
        self.generated = library.generate(exported, folder, self.namespace, "torch")
        sources = sorted((self.generated / "graphs").glob("*.cpp"))
        self.objects = {source.stem: library.compiled(source, self.generated) for source in sources}
        self.trainer = trainer(self, folder)
        torch.ops.load_library(str(library.linked(self.objects.values(), folder / f"{self.namespace}.so")))

    def parameters(self, name: str) -> int:
        """The number of trained inputs, which are the first ones."""
        kinds = [kind for kind, _ in self.specs[name]]
        count = kinds.count("PARAMETER")
        assert kinds[:count] == ["PARAMETER"] * count
        return count

    def inputs(self, name: str, model: nn.Module) -> list[Tensor]:
        """The inputs of a model's graph: the model's tensors, and the training data."""
        own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        data = iter(models.inputs(name))
        return [own[target] if kind in ("PARAMETER", "BUFFER") else next(data) for kind, target in self.specs[name]]


FEW = ("mlp",)  # in every run
BUILT: dict[tuple[str, ...], Built] = {}
NAMES = [pytest.param(name, marks=() if name in FEW else pytest.mark.slow) for name in models.CASES]


@pytest.fixture
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The models that a test needs, built together."""
    name = getattr(request.node, "callspec", None) and request.node.callspec.params.get("name")
    names = FEW if name in (None, *FEW) else tuple(each for each in models.CASES if each not in FEW)
    if names not in BUILT:
        BUILT[names] = Built(names, tmp_path_factory.mktemp("models"))
    return BUILT[names]


def graph(built: Built, name: str) -> Any:
    return getattr(getattr(torch.ops, built.namespace), name)


def close(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one.double(), other.double(), rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("name", NAMES)
def test_loss_gradients_and_buffers_match_eager(name: str, built: Built) -> None:
    eager, ours = models.model(name), models.model(name)
    expected = eager(*models.inputs(name))
    loss = graph(built, name)(*built.inputs(name, ours))
    assert close(expected, loss)
    expected.backward()
    loss.backward()
    for (key, one), (_, other) in zip(eager.named_parameters(), ours.named_parameters()):
        assert one.grad is not None and other.grad is not None, key
        assert close(one.grad, other.grad), key
    assert all(close(one, other) for one, other in zip(eager.buffers(), ours.buffers()))


@pytest.mark.slow
def test_a_source_compiles_by_itself(built: Built) -> None:
    source = built.generated / "graphs" / "mlp.cpp"
    assert library.compiled(source, built.generated, alone=True).exists()


def test_the_training_program_needs_no_python(built: Built) -> None:
    needed = subprocess.run(["ldd", str(built.trainer)], capture_output=True, text=True, check=True).stdout
    assert "libtorch_cpu" in needed
    assert "libpython" not in needed and "libtorch_python" not in needed


@pytest.mark.parametrize("name", NAMES)
def test_ten_training_steps_in_cpp_match_eager(name: str, built: Built, tmp_path: Path) -> None:
    model = models.model(name)
    start = [tensor.detach().clone() for tensor in built.inputs(name, model)]
    torch.save(start, tmp_path / "in")
    run(built.trainer, name, tmp_path)
    (*results,) = torch.load(tmp_path / "out", weights_only=False)
    expected = [train_eagerly(model, name) for _ in range(STEPS)]
    assert all(close(one, other) for one, other in zip(expected, results[len(start) :]))
    assert all(close(one, other) for one, other in zip(built.inputs(name, model), results[: len(start)]))
    assert expected[-1] < expected[0]


def train_eagerly(model: nn.Module, name: str) -> Tensor:
    """One step."""
    model.zero_grad()
    loss: Tensor = model(*models.inputs(name))
    loss.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            assert parameter.grad is not None
            parameter.sub_(parameter.grad, alpha=RATE)
    return loss.detach()


def trainer(built: Built, folder: Path) -> Path:
    """The program that trains any of the models, without Python."""
    source = folder / "train.cpp"
    source.write_text("".join(cpp_models(built)) + (HERE / "train.cpp").read_text())
    objects = [library.compiled(source, built.generated), *built.objects.values()]
    libraries = toolchain.torch_folder() / "lib"
    command = ["c++", *map(str, objects), f"-L{libraries}", f"-Wl,-rpath,{libraries}", *library.LIBRARIES]
    ended = subprocess.run([*command, "-o", str(folder / "train")], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[:8000]
    return folder / "train"


def cpp_models(built: Built) -> Iterator[str]:
    """The table of models for the program: the call of each, and the number of trained inputs."""
    yield from (f'#include "graphs/{name}.h"\n' for name in built.specs)
    yield "#define MODELS \\\n"
    for name, specs in built.specs.items():
        arguments = ", ".join(f"t[{i}]" for i in range(len(specs)))
        yield f"  MODEL({name}, {built.parameters(name)}, gradmill::graphs::{name}::{name}({arguments})) \\\n"
    yield "\n"


def run(program: Path, name: str, folder: Path) -> None:
    ended = subprocess.run([str(program), name, "in", "out"], cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
