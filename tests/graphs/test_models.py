"""Models through torch.export: loss and gradients match eager, and so do ten steps of SGD in C++."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import torch
from cpp import toolchain
from torch import Tensor, nn

from graphs import library, models

pytestmark = [
    pytest.mark.slow(3),
    pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing()),
    pytest.mark.filterwarnings("ignore"),
]

TOLERANCE = 1e-10
STEPS, RATE = 10, 0.1
NAMESPACE = "models"
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
        self.generated = library.generate(exported, folder, NAMESPACE, "torch")
        source = folder / "train.cpp"
        source.write_text("".join(cpp_models(self.specs)) + (HERE / "train.cpp").read_text())
        both = library.together(self.generated, source)
        self.trainer = library.linked([both], folder / "train", "-pie")
        torch.ops.load_library(str(library.linked([both], folder / f"{NAMESPACE}.so")))

    def inputs(self, name: str, model: nn.Module) -> list[Tensor]:
        """The inputs of a model's graph: the model's tensors, and the training data."""
        own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        data = iter(models.inputs(name))
        return [own[target] if kind in ("PARAMETER", "BUFFER") else next(data) for kind, target in self.specs[name]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(models.CASES, tmp_path_factory.mktemp("models"))


def close(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one.double(), other.double(), rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("name", models.CASES)
def test_loss_gradients_and_buffers_match_eager(name: str, built: Built) -> None:
    eager, ours = models.model(name), models.model(name)
    expected = eager(*models.inputs(name))
    loss = getattr(torch.ops.models, name)(*built.inputs(name, ours))
    assert close(expected, loss)
    expected.backward()
    loss.backward()
    for (key, one), (_, other) in zip(eager.named_parameters(), ours.named_parameters()):
        assert one.grad is not None and other.grad is not None, key
        assert close(one.grad, other.grad), key
    assert all(close(one, other) for one, other in zip(eager.buffers(), ours.buffers()))


def test_a_source_compiles_by_itself(built: Built) -> None:
    library.assert_alone(built.generated / "graphs" / "mlp.cpp", built.generated)


def test_the_training_program_needs_no_python(built: Built) -> None:
    needed = subprocess.run(["ldd", str(built.trainer)], capture_output=True, text=True, check=True).stdout
    assert "libtorch_cpu" in needed
    assert "libpython" not in needed and "libtorch_python" not in needed


@pytest.mark.parametrize("name", models.CASES)
def test_ten_training_steps_in_cpp_match_eager(name: str, built: Built, tmp_path: Path) -> None:
    model = models.model(name)
    start = [tensor.detach().clone() for tensor in built.inputs(name, model)]
    torch.save(start, tmp_path / "in")
    run(built.trainer, name, tmp_path)
    (*results,) = torch.load(tmp_path / "out", weights_only=False)
    expected = [train_eagerly(model, name) for _ in range(STEPS)]
    assert all(close(one, other) for one, other in zip(expected, results[len(start) :], strict=True))
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


def cpp_models(models: dict[str, list[tuple[str, str]]]) -> Iterator[str]:
    """The table of models for the program: the call of each, and the number of trained inputs, which come first."""
    yield from (f'#include "graphs/{name}.h"\n' for name in models)
    yield "#define MODELS \\\n"
    for name, specs in models.items():
        arguments = ", ".join(f"t[{i}]" for i in range(len(specs)))
        kinds = [kind for kind, _ in specs]
        count = kinds.count("PARAMETER")
        assert kinds[:count] == ["PARAMETER"] * count
        yield f"  MODEL({name}, {count}, gradmill::graphs::{name}::{name}({arguments})) \\\n"
    yield "\n"


def run(program: Path, name: str, folder: Path) -> None:
    ended = subprocess.run([str(program), name, "in", "out"], cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
