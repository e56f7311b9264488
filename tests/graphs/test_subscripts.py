"""Subscripts whose tensors turn out to have no dimensions: what a graph would do otherwise than eager is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from cpp import toolchain

from graphs import library

pytestmark = [
    pytest.mark.slow(0.6),
    pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing()),
]

EAGER = library.functions(library.SOURCES / "subscripts.py")
WRITES = ("written", "base_written", "view_of_it_written", "input_written", "of_another_one")
ONE, TWO, MASK = torch.tensor(1), torch.tensor([1, 0]), torch.tensor(True)


@pytest.fixture(scope="module")
def ops(sources: Callable[[str], Any]) -> Any:
    return sources("double_backward=0")


def given() -> torch.Tensor:
    return torch.arange(12, dtype=torch.float64).view(4, 3)


@pytest.mark.parametrize("name", WRITES)
def test_a_write_that_a_view_would_show_is_an_error(ops: Any, name: str) -> None:
    with pytest.raises(RuntimeError, match=r"a subscript is a tensor of one integer, .* write x\[i.view\(1\)\]\[0\]"):
        getattr(ops, name)(given(), ONE)
    assert torch.equal(getattr(ops, name)(given(), TWO), EAGER[name](given(), TWO))


def test_a_subscript_that_eager_applies_one_by_one_is_an_error(ops: Any) -> None:
    with pytest.raises(RuntimeError, match=r"a ':' between .* write two subscripts"):
        ops.apart(given(), ONE)
    assert torch.equal(ops.apart(given(), TWO), EAGER["apart"](given(), TWO))


@pytest.mark.parametrize("name", ["picked", "increased"])
@pytest.mark.parametrize("index", [MASK, MASK.byte()])
def test_a_bool_without_dimensions_is_an_error(ops: Any, name: str, index: torch.Tensor) -> None:
    with pytest.raises(RuntimeError, match=r"a bool tensor without dimensions: .* write torch.where"):
        getattr(ops, name)(given(), index)


@pytest.mark.parametrize("index", [torch.tensor([True, False, True]), torch.tensor([1, 0, 1]).byte()])
def test_an_item_of_a_mask_of_one_dimension_has_none(ops: Any, index: torch.Tensor) -> None:
    with pytest.raises(RuntimeError, match=r"a bool tensor without dimensions: .* write torch.where"):
        ops.increased_column(given(), index)


def test_a_mask_has_as_many_dimensions_at_run_time_as_it_selects_from(ops: Any) -> None:
    """Also one of bytes. All other subscripts with masks are in `real/masks.py`."""
    x, mask = torch.arange(27.0).view(3, 3, 3), torch.tensor([[1, 0, 1], [0, 1, 0], [0, 0, 1]])
    for each in (mask.bool(), mask.byte()):
        assert ops.then_number(x, each).tolist() == EAGER["then_number"](x, each).tolist() == [0, 6, 12, 24]
    with pytest.raises(IndexError, match="out of range"):
        ops.after_dots(given()[0], TWO)
    with pytest.raises(IndexError, match="out of range"):
        ops.after_dots(given(), given() > 1)
    for index in (TWO, given()[0] > 1):
        assert torch.equal(ops.after_dots(given(), index), EAGER["after_dots"](given(), index))


def test_what_it_picks_is_a_copy(ops: Any) -> None:
    x = given()
    assert torch.equal(ops.picked(x, ONE), EAGER["picked"](x, ONE))
    assert not ops.picked(x, ONE).is_set_to(x[1])
