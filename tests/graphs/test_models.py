"""Models through torch.export: loss, gradients and buffers match eager."""

from __future__ import annotations

from collections.abc import Iterable
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
NAMESPACE = "models"


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
        together = library.together(self.generated)
        torch.ops.load_library(str(library.linked([together], folder / f"{NAMESPACE}.so")))

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
