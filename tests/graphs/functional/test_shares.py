"""Results that may alias an argument without an annotation in the schema: their plans, and refused uses."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from graphs.planning import Planner, blocks, outputs, steps
from graphs.running import gradmill


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    """Plans functions with the operators of the installed torch."""
    return Planner(Path(tmp_path_factory.mktemp("shares")), "torch")


def test_a_result_that_may_be_the_argument_itself_is_computed_once_and_chosen(plan: Planner) -> None:
    def f(x: Tensor, training: bool) -> Tensor:
        y = torch.dropout(x, 0.5, training)
        x.mul_(2)
        return y

    assert steps(plan(f).functional) == [
        "y = dropout(x, training)",
        "is_view = same_memory(y, x)",
        "x_2 = mul_.Tensor(x)",
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


def test_an_in_place_variant_of_what_may_return_its_argument_has_a_gradient(plan: Planner) -> None:
    def f(x: Tensor) -> Tensor:
        y = x * 2
        torch.nn.functional.dropout(y, 0.5, True, True)
        torch.alpha_dropout_(y[0], 0.5, True)
        return y

    assert blocks(plan(f).backward)[:4] == [
        "scatter y_3 → select_2, y_2",
        "recorded alpha_dropout_ → select",
        "own select.int → y_2",
        "recorded dropout_ → y",
    ]


def test_dropout_in_place_that_drops_nothing_is_no_write(plan: Planner) -> None:
    def f(x: Tensor, training: bool) -> Tensor:
        torch.nn.functional.dropout(x, 0.5, False, True)
        torch.dropout_(x, 0.0, training)
        return x

    assert plan(f).functional.updates == ()


def test_what_autograd_ignores_keeps_the_history_of_what_it_writes_to(plan: Planner) -> None:
    def f(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        z = x * y
        z.logical_not_()
        w = x * y
        torch.eq(x, y, out=w)
        return z, w

    made = plan(f)
    assert blocks(made.backward) == ["own mul.Tensor → x, y", "own mul.Tensor → x, y"]
    assert {each.name: each.needs for each in made.returned} == {"z_2": (0, 1), "w_2": (0, 1)}


def test_a_write_to_untracked_memory_that_nothing_else_reads_is_allowed(
    plan: Planner,
) -> None:
    def f(x: Tensor) -> tuple[Tensor, Tensor]:
        y = x * 2
        a, b, _ = torch.unsafe_split(y, 1)
        a.mul_(3)
        return a, b

    assert [step for step in steps(plan(f).functional) if "mul_" in step] == [
        "unsafe_split_2 = mul_.Tensor(unsafe_split[0])"
    ]


ERRORS = {
    "x = torch.broadcast_tensors(x, y)[2]": "item 2 of a list of 2",
    "a, b, c = torch.broadcast_tensors(x, y)": "3 names for a list of 2 tensors",
    "torch.unsafe_split(x, 1)[0].mul_(2)": "'aten::unsafe_split.Tensor' as new memory, and this writes",
    "torch.unsafe_chunk(x, 2)[0][0].mul_(2)": "'aten::unsafe_chunk' as new memory, and this writes",
    "a = x * 2; b = torch.unsafe_split_with_sizes(a, [1]); b[0].mul_(2); x = a + 1": "as new memory, and this writes",
    "a = x * 2; b = torch._unsafe_view(a, (-1,)); a.mul_(2); x = b + 1": "as new memory, and this writes",
    "a = x * 2; b = a.dequantize(); b[0] = y; x = a + 1": "as new memory, and this writes",
    "torch.native_batch_norm(x, y, y, y, y, True, 0.1, 0.1, out=(x, y, y))": "and to 'running_mean', which",
}


@pytest.mark.parametrize("line", ERRORS)
def test_errors_are_reported_at_their_line(line: str, tmp_path: Path) -> None:
    head = "import torch\nfrom torch import Tensor\n\n\ndef f(x: Tensor, y: Tensor) -> Tensor:\n"
    (tmp_path / "f.py").write_text(f"{head}    {line}\n    return x\n")
    ended = gradmill(["specs=torch", "graphs=f.py", "families=graphs"], tmp_path)
    assert ended.status == 1 and "f.py:6:" in ended.stderr and ERRORS[line] in ended.stderr, ended.stderr


@pytest.mark.parametrize("view", ["torch.atleast_2d(x)", "x.mT"])
def test_whether_a_view_is_its_argument_is_known_at_run_time(view: str, tmp_path: Path) -> None:
    head = "import torch\nfrom torch import Tensor\n\n\ndef f(x: Tensor) -> Tensor:\n"
    (tmp_path / "f.py").write_text(f"{head}    v = {view}\n    v.unsqueeze_(0)\n    return v\n")
    gradmill(["specs=torch", "graphs=f.py", "families=graphs"], tmp_path).ok()
    text = (tmp_path / "generated" / "torch" / "graphs" / "f.cpp").read_text()
    assert "is_same = v.sizes() == x.sizes() && v.strides() == x.strides();" in text
    assert "TORCH_CHECK(!is_same, " in text
