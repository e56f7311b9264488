"""Models through torch.export: results, gradients and buffers match eager, in every size and for all strides."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from cpp import toolchain
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram, export, save
from torch.func import functional_call

from graphs import compare, library, models
from graphs.allocations import held_and_peak

pytestmark = [
    pytest.mark.slow(3),
    pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing()),
    pytest.mark.filterwarnings("ignore"),
]

OWN = {"PARAMETER": "leaf", "BUFFER": "plain", "CONSTANT_TENSOR": "plain"}  # the tensors of a model, in a comparison
LAYOUTS = [layout for layout in compare.LAYOUTS if layout != "single"]  # in which a model is not exported
MOST = 64  # arguments of an operator: a model with more tensors takes lists of them


class Decided(nn.Module):
    """The traced path depends on sizes: each is even, or more than three, in inputs of other names than the graph's."""

    def forward(self, x: Tensor, more: dict[str, list[Tensor]]) -> Tensor:
        first = more["First"][0]
        x = x * 2 if x.shape[0] % 2 == 0 and first.shape[0] * 2 > x.shape[0] else x * 3
        return x.sum() + first.sum()


def decided() -> ExportedProgram:
    sizes = {"x": {0: Dim.AUTO}, "more": {"First": [{0: Dim.AUTO}]}}
    return export(Decided(), (torch.rand(4), {"First": [torch.rand(5)]}), dynamic_shapes=sizes)


def listed(name: str, *size: Any) -> list[Any]:
    """The training data of a model."""
    return [*models.inputs(name, *size)]


class Built:
    """Exported models, generated, compiled and loaded."""

    def __init__(self, programs: dict[str, ExportedProgram], folder: Path, namespace: str) -> None:
        (folder / "exported").mkdir()
        self.specs: dict[str, list[tuple[str, str]]] = {}
        self.constants: dict[str, dict[str, Any]] = {}
        for name, program in programs.items():
            save(program, folder / "exported" / f"{name}.pt2")
            kinds = [(spec.kind.name, str(spec.target)) for spec in program.graph_signature.input_specs]
            self.specs[name] = [(kind, target) for kind, target in kinds if kind in OWN]
            self.constants[name] = program.constants
        self.generated = library.generate(folder / "exported", folder, namespace, "torch")
        library_ = library.linked([library.together(self.generated)], folder / f"{namespace}.so")
        torch.ops.load_library(str(library_))
        self.ops = getattr(torch.ops, namespace)

    def own(self, name: str, model: nn.Module) -> list[Tensor]:
        """The tensors of a model, as its graph takes them."""
        state = {**dict(model.named_parameters()), **dict(model.named_buffers()), **self.constants[name]}
        return [state[target].detach().clone() for _, target in self.specs[name]]

    def call(self, name: str, *given: Any) -> Any:
        """Calls the graph of a model with its tensors and the data."""
        counts = [sum(kind == each for kind, _ in self.specs[name]) for each in ("PARAMETER", "BUFFER")]
        if sum(counts) < MOST:
            return getattr(self.ops, name)(*given)
        parameters, buffers = list(given[: counts[0]]), list(given[counts[0] : sum(counts)])
        return getattr(self.ops, name)(parameters, buffers, *given[sum(counts) :])

    def differences(self, name: str) -> list[str]:
        """How the graph of a model differs from eager."""
        model, own, found, graph = models.model(name), self.specs[name], [], partial(self.call, name)
        which = [*(OWN[kind] for kind, _ in own), *["inner"] * 9]

        def eager(*given: Any) -> Any:
            tensors = {target: each for (kind, target), each in zip(own, given) if kind != "CONSTANT_TENSOR"}
            return functional_call(model, tensors, given[len(own) :])

        for size, layout in itertools.product(models.ALL[name].sizes, LAYOUTS):
            data = compare.laid_out(partial(listed, name, *size), layout)
            make = partial(lambda data: [*self.own(name, model), *data()], data)
            found += [f"{size}, {layout}: {each}" for each in compare.differences(eager, graph, make, which)]
        return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built({name: models.exported(name) for name in models.CASES}, tmp_path_factory.mktemp("models"), "models")


@pytest.fixture(scope="module")
def more(tmp_path_factory: pytest.TempPathFactory) -> Built:
    programs = {**{name: models.exported(name) for name in models.MORE}, "decided": decided()}
    return Built(programs, tmp_path_factory.mktemp("more"), "more_models")


@pytest.mark.parametrize("name", models.CASES)
def test_a_model_matches_eager(name: str, built: Built) -> None:
    assert built.differences(name) == []


@pytest.mark.parametrize("name", models.MORE)
def test_results_gradients_and_buffers_match_eager(name: str, more: Built) -> None:
    assert more.differences(name) == []


def test_a_source_compiles_by_itself(built: Built) -> None:
    library.assert_alone(built.generated / "graphs" / "mlp.cpp", built.generated)


def test_a_model_of_many_tensors_takes_them_as_lists(more: Built) -> None:
    model = models.model("deep")
    assert str(more.ops.deep.default._schema) == (
        "more_models::deep(Tensor[] parameters, Tensor(a0!)[] buffers, Tensor x) -> Tensor"
    )
    with pytest.raises(RuntimeError, match="deep: 'parameters' has 63 tensors, not 64"):
        more.ops.deep(list(model.parameters())[:-1], list(model.buffers()), *models.inputs("deep"))


def test_a_dropout_keeps_a_byte_for_each_number(more: Built) -> None:
    x = torch.rand(8, 8, dtype=torch.float64, requires_grad=True)

    def held(call: Callable[..., Any]) -> int:
        return held_and_peak(lambda: call(x)[0], lambda result: None)[0]

    floats, masks = 8 * x.numel(), 3 * x.numel()
    assert held(more.ops.dropping) <= floats + masks + 1024 < held(models.model("dropping")) + 1024 - floats


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("sized", (4, 7), r"sized: size 0 of input 'y' must be \(s\d+ \+ 1\) = 5, got 7"),
        ("sized", (65, 66), r"sized: s\d+, from size 0 of input 'x', must be in \[0, 64\], got 65"),
        ("doubled", (2, 7), r"doubled: s\d+, from size 0 of input 'y', must be in \[0, 6"),
        ("classifier", (5,), r"classifier: size 0 of input 'x' must be \(2\*s\d+\) = 4, got 5"),
        ("computed", (70,), "the number is too large: it has more than 64 bits"),
    ],
)
def test_sizes_that_do_not_fit_are_errors_that_name_them(
    name: str, size: tuple[int, ...], message: str, more: Built
) -> None:
    data = models.inputs(name, size[0]) if name == "sized" else models.inputs(name, *size)
    data = (data[0], torch.rand(size[1], dtype=torch.float64), data[2]) if name == "sized" else data
    with pytest.raises(RuntimeError, match=message):
        more.call(name, *more.own(name, models.model(name)), *data)


def test_a_shape_that_is_no_variable_is_an_error(more: Built) -> None:
    own, (_, y, n) = more.own("sized", models.model("sized")), models.inputs("sized")
    with pytest.raises(RuntimeError, match=r"made for an input 'x' of shape \[-1, 3\], got \[4, 2\]"):
        more.ops.sized(*own, torch.rand(4, 2, dtype=torch.float64), y, n)


def test_a_size_that_would_take_another_path_is_an_error(more: Built) -> None:
    module = decided().module()
    for x, first in itertools.product(range(12), range(8)):
        inputs = torch.rand(x), torch.rand(first)
        try:
            expected = module(inputs[0], {"First": [inputs[1]]})
        except AssertionError:
            with pytest.raises(RuntimeError, match="decided: the model was exported for inputs with "):
                more.ops.decided(*inputs)
        else:
            torch.testing.assert_close(more.ops.decided(*inputs), expected)
