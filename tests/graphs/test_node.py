"""The Node of a graph and its wrapper: other uses by autograd, and errors of the caller."""

from __future__ import annotations

import gc
import inspect
import random
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from cpp import toolchain
from torch import Tensor

from graphs import compare, library
from graphs.allocations import held_and_peak
from graphs.samples import tensor

pytestmark = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())


FILE = library.SOURCES / "node.py"


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return library.build(FILE, tmp_path_factory.mktemp("node"), "node_tests")


@pytest.fixture(scope="module")
def eager() -> dict[str, Any]:
    return library.functions(FILE)


def square(value: float = 0.5) -> Tensor:
    return torch.full((3, 3), value, dtype=torch.float64)


def leaf(value: float = 0.5) -> Tensor:
    return square(value).requires_grad_()


def test_graphs_match_eager(ops: Any, eager: dict[str, Any]) -> None:
    def arguments(function: Callable[..., Any]) -> list[Any]:
        kinds = inspect.signature(function).parameters.values()
        return [[tensor(5, 5)] if kind.annotation == list[Tensor] else tensor(5, 5) for kind in kinds]

    wrong = []
    for name, function in eager.items():
        if name == "written_out":  # here `out` has another shape: a graph refuses to resize it
            continue
        make = partial(arguments, function)
        for which in compare.choices(len(compare.tensors(make()))):
            wrong += [
                f"{name} {which}: {each}" for each in compare.differences(function, getattr(ops, name), make, which)
            ]
    assert wrong == []


def test_an_input_that_the_call_wrote_to_has_its_gradient_before_the_call_only(ops: Any) -> None:
    """Its new value and the result are outputs of one Node. In eager, the result depends on the new value."""
    for function, has in ((ops.doubled, False), (lambda x, w: x.mul_(2) * w, True)):
        before, w = leaf(), leaf(2.0)
        x = before * 1
        out = function(x, w).sum()
        (grad,) = torch.autograd.grad(out, before, retain_graph=True)
        assert torch.equal(grad, 2 * w)
        (after,) = torch.autograd.grad(out, x, allow_unused=True)
        assert after is not None if has else after is None


def test_forward_mode_is_an_error_with_the_reason(ops: Any) -> None:
    x, w = square(), square(2.0)
    with pytest.raises(NotImplementedError, match="product: a graph has no forward-mode AD"):
        torch.func.jvp(ops.product, (x, w), (x, w))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(w, w)
        with pytest.raises(NotImplementedError, match="product: a graph has no forward-mode AD"):
            ops.product(x, dual)
    assert torch.equal(ops.product(x, w), (x * w).exp())


def test_a_backward_of_one_output_frees_the_saved_values_of_the_others(ops: Any) -> None:
    x = leaf()
    one, other = ops.pair(x)
    one.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        other.sum().backward()
    one, other = ops.pair(x)
    one.sum().backward(retain_graph=True)
    other.sum().backward()


def test_the_items_of_a_list_share_one_requires_grad(ops: Any) -> None:
    assert ops.first([square(), leaf()]).requires_grad


def test_a_second_derivative_is_an_error_with_the_reason(ops: Any) -> None:
    x, w = leaf(), leaf(2.0)
    (grad,) = torch.autograd.grad(ops.product(x, w).sum(), [x], create_graph=True)
    assert torch.allclose(grad, (x * w).exp() * w)
    with pytest.raises(RuntimeError, match="product: the backward of a graph cannot be differentiated again"):
        grad.sum().backward()


def nested(function: Callable[..., Tensor]) -> dict[str, Tensor]:
    """Derivatives by torch.func of what itself has derivatives outside of it."""
    grad, jacrev = torch.func.grad, torch.func.jacrev
    x, w = tensor(5, 5), tensor(5, 5).requires_grad_()
    forces = grad(lambda x: function(x, w).sum())
    (of_forces,) = torch.autograd.grad(forces(x).square().sum() + function(x, w).sum(), w)
    (of_value,) = torch.autograd.grad(grad(lambda a: a * function(x, w).sum())(torch.ones(()).double()), w)
    return {
        "of forces": of_forces,
        "of a value": of_value,
        "hessian": jacrev(jacrev(lambda x: function(x, w).sum()))(x),
        "third": grad(lambda x: grad(lambda x: forces(x).square().sum())(x).square().sum())(x),
        "of samples": torch.vmap(forces)(torch.stack([x, 2 * x])),
    }


@pytest.mark.parametrize("name", ["product", "reused", "squares", "row", "row_and_recorded", "of_a_view"])
def test_torch_func_differentiates_what_is_outside_of_a_transform(name: str, ops: Any, eager: dict[str, Any]) -> None:
    torch.manual_seed(4)
    actual = nested(getattr(ops, name))
    torch.manual_seed(4)
    torch.testing.assert_close(actual, nested(eager[name]))


def test_a_write_to_an_input_or_output_before_the_backward_is_an_error(ops: Any) -> None:
    x, w = leaf(), square(2.0)
    out = ops.product(x, w)
    with torch.no_grad():
        out.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
    out = ops.product(x, w)
    w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def pieces_of(bases: list[Tensor], rng: random.Random) -> list[Tensor]:
    """Three tensors and two items of a list, each a part of one of the bases, or a new tensor."""
    pieces = []
    for _ in range(5):
        base, start = rng.choice(bases), rng.randrange(12)
        part = base[start : rng.randint(start, 12)]
        pieces.append(rng.choice([part, part[::2], part.clone(), torch.zeros(0)]))
    return pieces


def overlapping(written: Tensor, other: Tensor) -> bool:
    """Whether two tensors of one dimension reach the same bytes, from first to last."""
    if not written.numel() or not other.numel():
        return False
    ends = [
        (t.data_ptr(), t.data_ptr() + ((t.numel() - 1) * t.stride(0) + 1) * t.element_size()) for t in (written, other)
    ]
    return max(begin for begin, _ in ends) < min(end for _, end in ends)


def test_of_many_undeclared_inputs_the_first_written_one_that_shares_memory_is_named(ops: Any) -> None:
    rng, refused = random.Random(5), 0
    names = ("a", "b", "c", "xs", "xs")
    for _ in range(300):
        inputs = pieces_of([torch.zeros(12), torch.zeros(12)], rng)
        pairs = [(w, i) for w in (2, 1) for i in range(5) if i != w and overlapping(inputs[w], inputs[i])]
        a, b, c, *xs = inputs
        xs = [torch.zeros(1), *xs]
        if not pairs:
            ops.counted(a, b, c, xs)
            continue
        refused += 1
        written, other = (names[i] for i in pairs[0])
        with pytest.raises(RuntimeError, match=f"'{written}' is written to and shares memory with input '{other}',"):
            ops.counted(a, b, c, xs)
    assert 0 < refused < 300


def test_the_gradient_of_each_of_many_inputs_can_be_requested_alone(ops: Any, eager: dict[str, Any]) -> None:
    inputs = [square(0.1 * i + 0.3).requires_grad_() for i in range(7)]
    for one in inputs:
        expected, found = (torch.autograd.grad(each(*inputs).sum(), one) for each in (eager["layers"], ops.layers))
        torch.testing.assert_close(found, expected)


def test_undeclared_inputs_that_share_memory_are_an_error(ops: Any) -> None:
    base = square()
    with pytest.raises(
        RuntimeError, match="'x' is written to and shares memory with input 'w', which was not declared"
    ):
        ops.doubled(base, base[0:2])
    apart = torch.ones(6, 3, dtype=torch.float64)
    assert torch.equal(ops.doubled(apart[:3], apart[3:]), 2 * square(1.0))


def test_a_write_to_a_leaf_that_needs_a_gradient_is_an_error(ops: Any) -> None:
    x = leaf()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        ops.doubled(x, square())
    assert torch.equal(x, square())
    with torch.no_grad():
        ops.doubled(x, square())
    assert torch.equal(x, square(1.0))


def test_an_out_argument_is_not_resized(ops: Any) -> None:
    out = torch.zeros(3, dtype=torch.float64)
    assert ops.written_out(square(), out) is out and torch.equal(out, square().sum(1))
    with pytest.raises(RuntimeError, match=r"of shape \[2\] would be resized to \[3\], which a graph does not do"):
        ops.written_out(square(), torch.zeros(2, dtype=torch.float64))


@pytest.mark.parametrize(("name", "inputs"), [("product", 2), ("powers", 1), ("half", 1)])
def test_saved_values_are_freed(ops: Any, name: str, inputs: int) -> None:
    """A Node is in no reference cycle with its saved values: deleting it frees the leaf of its history."""
    leaves = [leaf() for _ in range(inputs)]
    out = getattr(ops, name)(*leaves)
    assert out.grad_fn is not None
    alive = weakref.ref(leaves[0])
    del out, leaves
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("step", ["without gradients", "forward and backward"])
def test_a_value_is_freed_after_its_last_use(ops: Any, eager: dict[str, Any], step: str) -> None:
    x, w = (torch.rand(128, 128).requires_grad_(step != "without gradients") for _ in range(2))
    gradient = torch.ones(128, 128)

    def peak(call: Any) -> int:
        backward = (lambda result: None) if step == "without gradients" else (lambda result: result.backward(gradient))
        x.grad = w.grad = None
        return held_and_peak(lambda: call(x, w), backward)[1]

    assert peak(ops.deep) <= peak(eager["deep"]) + 4096


def test_gradients_of_a_value_that_is_used_often_are_added_in_place(ops: Any, eager: dict[str, Any]) -> None:
    x, w = torch.rand(1, 256).requires_grad_(), torch.rand(256, 256).requires_grad_()

    def peak(call: Any) -> int:
        x.grad = w.grad = None
        return held_and_peak(lambda: call(x, w).sum(), lambda result: result.backward())[1]

    assert peak(ops.reused) <= peak(eager["reused"]) + 4096


def test_a_gradient_that_others_have_too_is_not_added_to_in_place(ops: Any) -> None:
    """Those of both terms of a sum are one tensor, which may be the caller's."""
    x, w, gradient = leaf(), leaf(), torch.rand(3, 3, dtype=torch.float64)
    given = gradient.clone()
    ops.shared(x, w).backward(gradient)
    assert torch.equal(gradient, given)
    assert torch.equal(x.grad, 2 * given) and torch.equal(w.grad, 2 * given)


def test_a_recorded_call_keeps_what_its_gradient_needs(ops: Any, eager: dict[str, Any]) -> None:
    """Not its result, if that is no part of it."""
    x, w = (torch.rand(128, 128).requires_grad_() for _ in range(2))

    def held(call: Any) -> int:
        return held_and_peak(lambda: call(x, w), lambda result: None)[0]

    assert held(ops.squares) <= held(eager["squares"]) + 4096


def test_autocast_around_a_graph_does_not_apply_to_it(ops: Any) -> None:
    x, w = (torch.rand(8, 8).requires_grad_() for _ in range(2))
    expected = torch.autograd.grad(ops.reused(x, w).sum(), (x, w))
    with torch.autocast("cpu"):
        assert (x @ w).dtype == torch.bfloat16
        result = ops.reused(x, w)
        inside = torch.autograd.grad(result.sum(), (x, w), retain_graph=True)
    assert torch.equal(result, ops.reused(x, w))
    for found in (inside, torch.autograd.grad(result.sum(), (x, w))):
        assert all(map(torch.equal, found, expected))


@pytest.mark.parametrize("name", ["row", "row_and_all", "two_rows", "most_rows", "row_and_recorded"])
def test_a_part_is_copied_if_it_alone_would_keep_the_whole(ops: Any, eager: dict[str, Any], name: str) -> None:
    x, w = (torch.rand(128, 128).requires_grad_() for _ in range(2))
    row, whole = 128 * 4, 128 * 128 * 4

    def held(call: Any) -> int:
        return held_and_peak(lambda: call(x, w), lambda result: None)[0]

    ways = (eager[name], getattr(ops, name))
    freed = held(ways[0]) - held(ways[1])
    assert freed == (whole - row if name == "row" else 0)
    one, other = (torch.autograd.grad(call(x, w).sum(), (x, w)) for call in ways)
    assert all(map(torch.equal, one, other))


def test_a_retained_graph_has_the_same_gradients_in_each_backward(ops: Any, eager: dict[str, Any]) -> None:
    x, w = (torch.rand(8, 8).requires_grad_() for _ in range(2))
    result, expected = ops.deep(x, w).sum(), torch.autograd.grad(eager["deep"](x, w).sum(), (x, w))
    for retain in (True, True, False):
        found = torch.autograd.grad(result, (x, w), retain_graph=retain)
        assert all(torch.allclose(one, other) for one, other in zip(found, expected))
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        result.backward()


def test_without_gradients_no_output_has_a_history(ops: Any) -> None:
    with torch.no_grad():
        assert not ops.product(leaf(), leaf()).requires_grad
    assert not ops.product(square(), square()).requires_grad
