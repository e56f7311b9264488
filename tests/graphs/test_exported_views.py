"""Views without an annotation in their schemas, in exported programs: they match eager."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from cpp import toolchain
from torch import Tensor, nn
from torch_seed import seed_torch

from graphs import library
from graphs.samples import tensor

pytestmark = [
    pytest.mark.slow(10),
    pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing()),
]


class Written(nn.Module):
    """Each line writes to `z` through a result that may be a view of it."""

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        z = x * 1
        torch.einsum("ij->ji", z)[0].mul_(2)
        torch.atleast_2d(z).add_(1)
        torch.broadcast_tensors(z, y)[0].mul_(y)
        z.type_as(y).mul_(3)
        z.sum_to_size(4, 6).sub_(0.5)
        torch.conj_physical(z).mul_(2)
        F.dropout(z, 0.5, training=False).add_(1)
        return z, torch.atleast_3d(z)


class Sized(nn.Module):
    """Views with the sizes of what is the input itself."""

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        z = x.to(torch.float64)
        return z, z * z, y.expand_as(z).type_as(z)


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Both models, compiled together."""
    folder = tmp_path_factory.mktemp("views")
    (folder / "graphs").mkdir()
    for model in (Written(), Sized()):
        path = folder / "graphs" / f"{type(model).__name__.lower()}.pt2"
        torch.export.save(torch.export.export(model, (tensor(4, 6), tensor(6))), path)
    return library.build(folder / "graphs", folder, "exported_views", "torch")


def inputs() -> tuple[Tensor, Tensor]:
    """The same values each time."""
    seed_torch(4)
    return tensor(4, 6).requires_grad_(), tensor(6).requires_grad_()


def test_a_view_with_the_sizes_of_an_input_leaves_that_as_it_is(ops: Any) -> None:
    gradients = []
    for function in (ops.sized, Sized()):
        x, y = inputs()
        outputs = function(x, y)
        assert x.is_leaf and y.is_leaf and outputs[0] is x
        gradients.append(torch.autograd.grad(sum(each.sin().sum() for each in outputs), (x, y)))
    torch.testing.assert_close(*gradients)


def test_a_write_to_a_view_without_annotation_reaches_its_base(ops: Any) -> None:
    given, others = inputs(), inputs()
    outputs, expected = ops.written(*given), Written()(*others)
    torch.testing.assert_close(outputs, expected)
    assert outputs[0].untyped_storage().data_ptr() == outputs[1].untyped_storage().data_ptr()
    one = torch.autograd.grad(outputs[0].sin().sum(), given)
    torch.testing.assert_close(one, torch.autograd.grad(expected[0].sin().sum(), others))
