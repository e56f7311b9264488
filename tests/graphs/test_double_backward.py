"""Gradients of gradients: with double_backward=1 equal to eager's, else an error that says why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import torch
import torch.nn.functional as F
from cpp import toolchain
from torch import Tensor, nn
from torch.export import export, save

from graphs import library, programs
from graphs.documented import REFUSED
from graphs.programs import Program
from graphs.random_programs import inputs_of, runs

pytestmark = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())
FILE = Path(__file__).with_name("twice.py")
EAGER = library.functions(FILE)
EAGER_MORE = library.functions(library.SOURCES / "twice_more.py")


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return library.build(FILE, tmp_path_factory.mktemp("twice"), "twice", "torch", "double_backward=1")


def random(*sizes: int) -> Tensor:
    return torch.randn(sizes, dtype=torch.float64, requires_grad=True)


INPUTS: dict[str, Callable[[], list[Any]]] = {
    "energy": lambda: [random(4, 3), random(3, 2), random(2)],
    "potential": lambda: [random(4, 3), random(5).detach().abs().requires_grad_(), random(5), random(5)],
    "several": lambda: [random(3), [random(1, 3), random(2, 3)], 0.7],
    "kinds": lambda: [
        random(3, 2),
        None,
        [random(2), random(1)],
        2,
        0.5,
        True,
        "a",
        [0],
        [1.0],
        1,
        [0, 1],
        3,
        [True],
    ],
    "views": lambda: [random(3, 3), random(3)],
    "dropped": lambda: [random(3, 3)],
    "behind": lambda: [random(3)],
    "normalized": lambda: [random(2, 3), random(3), random(3)],
    "composed": lambda: [random(3, 3), random(3, 3)],
    "cell": lambda: [random(2, 3), random(2, 3), random(9, 3), random(9, 3)],
    "multiplied": lambda: [random(3), random(3)],
    "activated": lambda: [random(3, 3), random(3, 3)],
    "reduced": lambda: [random(3, 3), random(3, 3)],
    "scattered": lambda: [random(3, 4), torch.tensor([[0, 0, 1], [1, 2, 3], [3, 3, 3]]), random(3, 3)],
    "attended": lambda: [random(1, 2, 3, 4), random(1, 2, 3, 4), random(1, 2, 3, 4), random(3, 3)],
    "written": lambda: [random(3, 3), random(3, 3)],
    "row": lambda: [random(3, 3), random(3, 3)],
    "into": lambda: [random(3, 3), random(3, 3)],
    "averaged": lambda: [random(3, 3), random(3, 3), random(3, 3).detach(), torch.tensor(1)],
    "iterated": lambda: [random(3, 3), random(3).detach(), random(3)],
    "trained": lambda: [random(4, 3), random(3), random(3), random(3).detach(), random(3).detach().exp()],
}
REASONS = {
    "zeroed": "line 3 of the function: 'zero_' has no functional variant with a derivative",
    "sharing": "the graph changes an input that shares memory with another",
}


def leaves(inputs: list[Any]) -> list[Tensor]:
    flat = [each for one in inputs for each in (one if isinstance(one, list) else [one])]
    return [each for each in flat if isinstance(each, Tensor) and each.requires_grad]


def derivatives(function: Callable[..., Any], inputs: list[Any]) -> list[Tensor]:
    """The results, their gradients, and the gradients of a function of those."""
    torch.manual_seed(1)
    results = function(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    weighted = sum((each * torch.randn(each.shape)).sum() for each in results)
    first = torch.autograd.grad(weighted, leaves(inputs), create_graph=True, materialize_grads=True)
    again = sum((each * torch.randn(each.shape)).sin().sum() for each in first)
    second = torch.autograd.grad(again, leaves(inputs), create_graph=True, materialize_grads=True)
    last = sum((each * torch.randn(each.shape)).sum() for each in second)
    third = torch.autograd.grad(last, leaves(inputs), materialize_grads=True)
    return [*results, *first, *second, *third]


def on_results(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, given copies of tensors: it may write to these."""

    return lambda *given: function(*(each.clone() if isinstance(each, Tensor) else each for each in given))


def check(name: str, eager: Callable[..., Any], graph: Callable[..., Any]) -> None:
    torch.manual_seed(0)
    inputs = INPUTS[name]()
    expected, actual = (derivatives(on_results(function), inputs) for function in (eager, graph))
    torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("name", [name for name in INPUTS if name in EAGER])
def test_first_second_and_third_derivatives_match_eager(name: str, ops: Any) -> None:
    check(name, EAGER[name], getattr(ops, name))


@pytest.mark.slow(15)
def test_derivatives_of_more_functions_match_eager(sources: Callable[[str], Any]) -> None:
    more = sources("double_backward=1")
    assert EAGER_MORE.keys() == {name for name in INPUTS if name not in EAGER}
    for name, function in EAGER_MORE.items():
        check(name, function, getattr(more, name))


def test_a_mixed_derivative_takes_the_incoming_gradient_into_account(ops: Any) -> None:
    torch.manual_seed(0)
    inputs, weight = INPUTS["energy"](), random()
    results = []
    for function in (EAGER["energy"], ops.energy):
        (first,) = torch.autograd.grad(function(*inputs), inputs[:1], weight, create_graph=True)
        results.append(torch.autograd.grad(first.pow(2).sum(), [weight, inputs[1]]))
    torch.testing.assert_close(*results)


def test_training_on_forces_matches_eager(ops: Any) -> None:
    """Energy to forces to a loss to the gradients of parameters, for twenty steps."""
    losses = []
    for function in (EAGER["potential"], ops.potential):
        torch.manual_seed(0)
        positions, wanted = random(4, 3), torch.randn(4, 3, dtype=torch.float64)
        parameters = [random(5).detach().abs().requires_grad_(), random(5), random(5)]
        optimizer = torch.optim.SGD(parameters, 0.05)
        losses.append([])
        for _ in range(20):
            (gradient,) = torch.autograd.grad(function(positions, *parameters), positions, create_graph=True)
            loss = (wanted + gradient).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses[-1].append(loss.detach())
    torch.testing.assert_close(losses[1], losses[0], rtol=1e-9, atol=0)
    assert losses[0][-1] < losses[0][0]


def test_an_input_that_was_changed_since_is_an_error_if_derivatives_use_it(ops: Any) -> None:
    seconds = []
    for function in (EAGER["energy"], ops.energy):
        torch.manual_seed(0)
        x, w, b = INPUTS["energy"]()
        result = function(x, w, b)
        with torch.no_grad():
            b.add_(1)
        (first,) = torch.autograd.grad(result, [x], create_graph=True)
        seconds.append(torch.autograd.grad(first.sum(), [x, w, b], retain_graph=True))
        with torch.no_grad():
            x.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            torch.autograd.grad(first.sum(), [w])
    torch.testing.assert_close(*seconds)


def test_a_graph_that_was_released_is_an_error(ops: Any) -> None:
    x, w, b = INPUTS["energy"]()
    result = ops.energy(x, w, b)
    result.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        torch.autograd.grad(result, [x], create_graph=True)


@pytest.mark.parametrize("name", REASONS)
def test_what_cannot_be_differentiated_again_says_why(name: str, ops: Any) -> None:
    torch.manual_seed(0)
    inputs = [random(3).clone(), random(3)]
    given = inputs if name != "sharing" else [inputs[0], inputs[0].view(3), inputs[1]]
    result = getattr(ops, name)(*given)
    (first,) = torch.autograd.grad(result.sum(), inputs[-1:], create_graph=True)
    with pytest.raises(RuntimeError) as error:  # not a missing gradient, or zeros
        torch.autograd.grad(first.sum(), inputs, materialize_grads=True)
    assert str(error.value).startswith(name)
    assert f"the backward of a graph cannot be differentiated again: {REASONS[name]}" in str(error.value)


# ---- branches


class Branches(nn.Module):
    """Branches of two values, one of which was made from the other."""

    def forward(self, flag: Tensor, x: Tensor) -> Tensor:
        y = x.sin()
        z = cast(Tensor, torch.cond(flag, lambda x, y: (x * y).tanh(), lambda x, y: y.exp() / 2, (x, y)))
        return z * x * y


class Dropping(nn.Module):
    """A branch that draws random numbers."""

    def forward(self, flag: Tensor, x: Tensor) -> Tensor:
        y = cast(Tensor, torch.cond(flag, lambda x: F.dropout(x, 0.5, True), lambda x: x * 2, (x,)))
        return y * x


class Cubes(nn.Module):
    """Custom operators with autograd of their own: the backward of one is another one, which is differentiable."""

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, torch.ops.twicelib.cube(x.sin()) * x)


class Cube(nn.Module):
    """The same, with a backward that is not."""

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, torch.ops.twicelib.cube_once(x.sin()) * x)


class Zeroed(nn.Module):
    """A call that cannot be differentiated twice in a graph."""

    def forward(self, x: Tensor) -> Tensor:
        y = x * 2
        y.zero_()
        return x * x + y


CALLED = []  # the custom operators that were called


@pytest.fixture(scope="module")
def twicelib() -> Iterator[None]:
    """The library of the custom operators. `once_backward` has no autograd."""
    lib = torch.library.Library("twicelib", "DEF")

    def define(name: str, kernel: Callable[..., Tensor], backward: Callable[..., Any]) -> None:
        arguments = "Tensor x" if name.startswith("cube") and "backward" not in name else "Tensor grad, Tensor x"
        lib.define(f"{name}({arguments}) -> Tensor")
        lib.impl(name, lambda *given: (CALLED.append(name), kernel(*given))[1], "CPU")
        lib.impl(name, lambda *given: torch.empty_like(given[-1]), "Meta")
        keep = lambda ctx, inputs, output: ctx.save_for_backward(*inputs)  # noqa: E731
        torch.library.register_autograd(f"twicelib::{name}", backward, setup_context=keep, lib=lib)

    ops = torch.ops.twicelib
    define("cube", lambda x: x**3, lambda ctx, grad: ops.cube_backward(grad, *ctx.saved_tensors))
    define("cube_backward", lambda grad, x: 3 * x**2 * grad, backward_of_backward)
    define("cube_once", lambda x: x**3, lambda ctx, grad: ops.once_backward(grad, *ctx.saved_tensors))

    @torch.library.custom_op("twicelib::once_backward", mutates_args=())
    def once_backward(grad: Tensor, x: Tensor) -> Tensor:
        return 3 * x**2 * grad

    yield
    lib._destroy()


def backward_of_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    incoming, x = ctx.saved_tensors
    return 3 * x * x * grad, 6 * x * incoming * grad


@pytest.fixture(scope="module")
def branches(twicelib: None, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("branches")
    (folder / "graphs").mkdir()
    for kind in (Branches, Dropping, Cubes, Cube, Zeroed):
        given = (torch.tensor(True), random(2, 3)) if kind in (Branches, Dropping) else (random(2, 3),)
        save(export(kind(), given), folder / "graphs" / f"{kind.__name__.lower()}.pt2")
    return library.build(folder / "graphs", folder, "branches_twice", "torch", "double_backward=1")


@pytest.mark.slow(1.8)
@pytest.mark.parametrize("flag", [True, False])
def test_derivatives_of_branches_are_those_of_the_branch_that_ran(flag: bool, branches: Any) -> None:
    torch.manual_seed(0)
    x = random(2, 3)
    expected = derivatives(lambda x: ((x * x.sin()).tanh() if flag else x.sin().exp() / 2) * x * x.sin(), [x])
    actual = derivatives(lambda x: branches.branches(torch.tensor(flag), x), [x])
    torch.testing.assert_close(actual, expected)


@pytest.mark.slow(1.8)
def test_random_numbers_of_a_branch_are_drawn_once(branches: Any) -> None:
    torch.manual_seed(0)
    x = random(2, 3)
    expected = derivatives(lambda x: F.dropout(x, 0.5, True) * x, [x])
    actual = derivatives(lambda x: branches.dropping(torch.tensor(True), x), [x])
    torch.testing.assert_close(actual, expected)


@pytest.mark.slow(1.8)
def test_derivatives_of_a_custom_operator_are_those_of_its_autograd(branches: Any) -> None:
    torch.manual_seed(0)
    x = random(2, 3)
    expected = derivatives(Cubes(), [x])
    CALLED.clear()
    actual = derivatives(branches.cubes, [x])
    assert CALLED.count("cube") == 1
    torch.testing.assert_close(actual, expected)
    assert all(each.any() for each in actual)


@pytest.mark.slow(1.8)
def test_a_custom_operator_that_has_first_derivatives_only_is_named(branches: Any) -> None:
    messages = []
    for function in (Cube(), branches.cube):
        x = random(2, 3)
        (first,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
        with pytest.raises(RuntimeError, match=r"twicelib.*once_backward") as error:
            torch.autograd.grad(first.sum(), x)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


@pytest.mark.slow(1.8)
def test_the_reason_names_the_line_of_the_model(branches: Any) -> None:
    line = next(i for i, text in enumerate(Path(__file__).read_text().splitlines(), 1) if text.strip() == "y.zero_()")
    x = random(2, 3)
    (first,) = torch.autograd.grad(branches.zeroed(x).sum(), x, create_graph=True)
    where = f"{Path(__file__).name}:{line}, node 'zero_'"
    with pytest.raises(RuntimeError, match=f"differentiated again: {where}: 'zero_' has no functional variant"):
        torch.autograd.grad(first.sum(), x)


# ---- random programs

LIMITS = (*REFUSED, "has no functional variant with a derivative")
FIRST_ONLY = re.compile(r"out=")  # what has no second derivative in a graph


COMPOSITES = {"mul": "multiply", "sub": "subtract", "neg": "negative"}  # which autograd records


def with_composites(program: Program) -> Program:
    """The program with composites in place of operators that have formulas."""
    return program._replace(text=re.sub(r"(?<=\.)(mul|sub|neg)(?=_?\()", lambda m: COMPOSITES[m[0]], program.text))


def on_squares(program: Program) -> Program:
    """The program on squares of its inputs: it may write to these, and all second derivatives have values."""
    head, _, body = program.text.partition("\n")
    squares = "".join(f"    x{i} = x{i} * x{i}\n" for i in range(program.inputs))
    return program._replace(text=f"{head}\n{squares}{body}")


def second(function: Callable[..., Any], inputs: list[Tensor]) -> list[Tensor]:
    """The gradients of inputs, and the gradients of these."""
    torch.manual_seed(2)
    results = function(*inputs)
    results = [each for each in (results if isinstance(results, (tuple, list)) else [results]) if each.requires_grad]
    weighted = sum((each * torch.rand(each.shape)).sum() for each in (*results, *inputs))
    first = torch.autograd.grad(weighted, inputs, create_graph=True)
    again = sum((each * torch.rand(each.shape)).sin().sum() for each in (*first, *inputs))
    return [*first, *torch.autograd.grad(again, inputs)]


@pytest.mark.slow(20)
def test_second_derivatives_of_random_programs_match_eager(tmp_path: Path) -> None:
    plain = [p for p in programs.programs(0, 60) if not p.aliased and not FIRST_ONLY.search(p.text)]
    changed = [p for p in map(with_composites, plain) if p not in plain][::2]
    names = {program.name for program in changed}
    chosen = [*(p for p in plain if p.name not in names), *changed]
    good = runs([on_squares(program) for program in chosen], tmp_path / "programs.py")
    ops = library.build(tmp_path / "programs.py", tmp_path, "many_twice", "torch", "double_backward=1")
    (source,) = (tmp_path / "generated" / "graphs").glob("programs.cpp")
    assert "graph::record(" in source.read_text()
    eager, equal = library.functions(tmp_path / "programs.py"), 0
    for program in good:
        inputs = [each.requires_grad_() for each in inputs_of(program)()]
        try:
            expected = second(eager[program.name], inputs)
        except RuntimeError:
            continue  # a view that eager cannot differentiate
        try:
            actual = second(getattr(ops, program.name), inputs)
        except RuntimeError as error:
            assert any(limit in str(error) for limit in LIMITS), f"{program.text}\n{error}"
            continue
        matches = [torch.allclose(one, other) for one, other in zip(actual, expected, strict=True)]
        assert all(matches), f"{program.text}\n{matches}"
        equal += 1
    assert equal > len(good) / 2
