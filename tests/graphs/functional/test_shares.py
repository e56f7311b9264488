"""Results that may alias an argument without an annotation in the schema: their plans, and refused uses."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from forked import gradmill
from torch import Tensor

from graphs.planning import Planner, blocks, outputs, steps


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    """Plans functions with the operators of the installed torch."""
    return Planner(Path(tmp_path_factory.mktemp("shares")), "torch")


def test_a_result_that_may_be_the_argument_itself_is_computed_once_and_chosen(plan: Planner) -> None:
    def f(x: Tensor, training: bool) -> Tensor:
        y = torch.dropout(x, 0.5, training)
        x.mul_(2)
        return y

    lines = [step for step in steps(plan(f).functional) if "operand" not in step]
    assert lines == [
        "y = dropout(x, training)",
        "is_view = same_memory(y, x)",
        "x_2 = mul_.Tensor(x, number)",
        "x_3 = x_2 if is_view else y",
    ]


def test_other_arguments_get_no_gradient(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        return x.type_as(y) * 2

    assert blocks(plan(f).backward)[1:] == ["cast type_as → x"]


def test_views_of_several_tensors_are_views_of_each(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor) -> list[Tensor]:
        return torch.broadcast_tensors(x, y)

    assert outputs(plan(f).functional) == ["[broadcast_tensors of input x, broadcast_tensors of input y]"]


ERRORS = {
    "x = torch.broadcast_tensors(x, y)[2]": "item 2 of a list of 2",
    "a, b, c = torch.broadcast_tensors(x, y)": "3 names for a list of 2 tensors",
    "torch.atleast_2d(x).t_()": "write the operator that returns a view",
}


@pytest.mark.parametrize("line", ERRORS)
def test_errors_are_reported_at_their_line(line: str, tmp_path: Path) -> None:
    head = "import torch\nfrom torch import Tensor\n\n\ndef f(x: Tensor, y: Tensor) -> Tensor:\n"
    (tmp_path / "f.py").write_text(f"{head}    {line}\n    return x\n")
    ended = gradmill(["specs=torch", "graphs=f.py", "families=graphs"], tmp_path)
    assert ended.status == 1 and "f.py:6:" in ended.stderr and ERRORS[line] in ended.stderr, ended.stderr
