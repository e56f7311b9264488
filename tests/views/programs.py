"""Random programs of views and in-place operators, as data: the same steps can be run with either set of operators."""

from __future__ import annotations

import contextlib
import random
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from views.operators import Ops, torch_ops

SHAPES = ((4,), (3, 4), (4, 3), (2, 3, 4), (6,), (1, 4), ())


class Step(NamedTuple):
    """One statement. Tensors are numbers of variables; a step that fails makes a variable that is empty."""

    what: str
    of: tuple[int, ...]
    with_: tuple[Any, ...] = ()
    no_grad: bool = False


class Ask(NamedTuple):
    """Gradients that are asked for in the end."""

    outputs: tuple[int, ...]
    inputs: tuple[int, ...]
    twice: bool


class Program(NamedTuple):
    steps: tuple[Step, ...]
    asks: tuple[Ask, ...]
    replay: bool  # views are recorded as the operators that made them


ERRORS = (RuntimeError, IndexError, ValueError, AssertionError)  # of torch: it refuses, or asserts

Variables = list[Any]  # tensors, edges of the graph, and None for what failed


class Hooked(NamedTuple):
    """What hooks saw, in their order."""

    seen: list[Tensor | None]

    def hook(self, factor: float) -> Callable[[Tensor | None], Tensor | None]:
        def run(g: Tensor | None) -> Tensor | None:
            self.seen.append(None if g is None else g.detach().clone())
            return None if g is None else g * factor

        return run


def execute(step: Step, variables: Variables, ops: Ops, hooked: Hooked) -> list[Any]:
    """Runs one statement. Gives the new variables."""
    values = [variables[number] for number in step.of]
    if any(value is None for value in values):
        raise RuntimeError("of nothing")
    with torch.set_grad_enabled(not step.no_grad):
        if step.what == "leaf":
            return [_leaf(*step.with_)]
        if step.what.endswith("_") and step.what in ops.functions:
            getattr(ops, step.what)(*values, *step.with_)
            return []
        if step.what == "edge":
            return [torch.autograd.graph.get_gradient_edge(values[0])]
        if step.what == "hook":
            # torch 2.13.0 crashes if a view gets its first hook before it was asked for the grad_fn that a change of
            # its base left to be made: b = t.clone(); x = b[0]; b.mul_(2); x.register_hook(print)
            _ = values[0].grad_fn
            values[0].register_hook(hooked.hook(*step.with_))
            return []
        made = getattr(torch if step.what.startswith("view_as_") else Tensor, step.what)(*values, *step.with_)
        if step.what in ("retain_grad", "requires_grad_", "t_"):
            return []
        return list(made[:3]) if isinstance(made, tuple | list) else [made]


def _leaf(shape: tuple[int, ...], dtype: torch.dtype, requires_grad: bool, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    if not dtype.is_floating_point and not dtype.is_complex:
        return torch.randint(1, 4, shape, generator=generator, dtype=dtype)
    made = torch.randn(shape, generator=generator, dtype=dtype) * 0.3 + 1
    return made.requires_grad_(requires_grad)


def draw(rng: random.Random) -> Program:
    """A program. It is run with torch's operators while it is drawn, so that most of its steps make sense."""
    replay = rng.random() < 0.25
    variables: Variables = []
    steps: list[Step] = []
    hooked = Hooked([])
    with torch.autograd._force_original_view_tracking(replay), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a complex number that becomes a real one
        steps += [_leaf_step(rng, number) for number in range(3)]
        steps.append(Step("clone", (0,)))  # to be changed in place, which a leaf refuses
        for step in steps:
            variables += execute(step, variables, torch_ops(), hooked)
        for _ in range(rng.randint(4, 18)):
            step = _step(rng, variables)
            if step.what == "t_" and any(earlier.what == "retain_grad" for earlier in steps):
                continue  # torch 2.13.0 leaves the hook of a retained gradient behind, and asserts later that it has it
            steps.append(step)
            with contextlib.suppress(*ERRORS):
                variables += execute(step, variables, torch_ops(), hooked)
    return Program(tuple(steps), tuple(_ask(rng, variables) for _ in range(rng.randint(2, 4))), replay)


def _leaf_step(rng: random.Random, number: int) -> Step:
    kinds = [torch.float64] * 6 + [torch.float32, torch.complex128] + ([torch.int64] if number else [])
    return Step("leaf", (), (rng.choice(SHAPES[1:5] if not number else SHAPES), rng.choice(kinds),
                             number == 0 or rng.random() < 0.6, rng.randint(0, 999)))  # fmt: skip


def _step(rng: random.Random, variables: Variables) -> Step:
    tensors = [number for number, value in enumerate(variables) if isinstance(value, Tensor)]
    # Leaves refuse to be changed, so what was computed is taken more often.
    computed = [number for number in tensors if not _refuses(variables[number])]
    kind = rng.choices(("view", "in place", "out of place", "other"), (33, 43, 12, 12))[0]
    if kind == "in place" and rng.random() < 0.6:
        computed = [number for number in computed if variables[number]._base is not None] or computed
    number = rng.choice(computed if rng.random() < 0.95 else tensors)
    if kind == "view":
        what, with_ = _view(rng, variables[number])
        return Step(what, (number,), with_, no_grad=rng.random() < 0.06)
    if kind == "in place":
        return _in_place(rng, variables, number, tensors)
    if kind == "out of place":
        return _out_of_place(rng, variables, number, tensors)
    what = rng.choice(("retain_grad", "hook", "hook", "edge", "detach", "t_", "requires_grad_"))
    return Step(what, (number,), (rng.choice((0.5, 2.0)),) if what == "hook" else ())


def _refuses(x: Tensor) -> bool:
    try:
        return x.is_leaf and x.requires_grad
    except ERRORS:  # a view of several whose base has changed; a base that has other sizes now
        return True


def _view(rng: random.Random, x: Tensor) -> tuple[str, tuple[Any, ...]]:
    if x.is_complex() and rng.random() < 0.5:
        return rng.choice((("view_as_real", ()), ("conj", ())))
    if x.dim() == 0:
        return rng.choice((("unsqueeze", (0,)), ("expand", (2,)), ("view", (1, 1))))
    dim = rng.randrange(x.dim())
    size = x.size(dim)
    start = rng.randrange(size + 1)
    return rng.choice(
        (
            *[("select", (dim, rng.randrange(max(size, 1))))] * 3,
            *[("narrow", (dim, start, rng.randint(0, size - start)))] * 3,
            *[("__getitem__", ((slice(None),) * dim + (slice(rng.randint(0, 1), None, rng.randint(1, 2)),),))] * 2,
            ("transpose", (dim, rng.randrange(x.dim()))),
            ("t", ()),
            ("unsqueeze", (dim,)),
            ("squeeze", ()),
            ("view", (-1,)),
            ("expand", (2, *x.shape)),
            ("diagonal", ()),
            ("movedim", (0, -1)),
            ("unfold", (dim, min(2, size), 1)),
            ("as_strided", ((2,), (rng.randint(1, 2),), rng.randint(0, 3))),
            ("detach", ()),
            ("unbind", (dim,)),
            ("split", (max(1, size // 2), dim)),
        )
    )


def _in_place(rng: random.Random, variables: Variables, number: int, tensors: list[int]) -> Step:
    x = variables[number]
    no_grad = rng.random() < 0.06
    what = rng.choice(("mul_", "mul_", "add_", "copy_", "copy_", "exp_", "sigmoid_", "zero_", "fill_"))
    if what in ("exp_", "sigmoid_", "zero_"):
        return Step(what, (number,), (), no_grad)
    # Our `fill_` gives no gradient, which takes a CopySlices to be a zero; and of elements that lie in one place, zeros
    # can be written, while torch copies those that its own `fill_` gives, and refuses.
    if what == "fill_" and x._base is not None and torch._debug_has_internal_overlap(x) == 0:
        return Step(what, (number,), (1.5,), no_grad)
    what = "mul_" if what == "fill_" else what
    if what != "copy_" and rng.random() < 0.25:
        return Step(what, (number,), (1.25,), no_grad)
    fitting = [other for other in tensors if _broadcasts(variables[other], x)]
    return Step(what, (number, rng.choice(fitting or tensors)), (), no_grad)


def _out_of_place(rng: random.Random, variables: Variables, number: int, tensors: list[int]) -> Step:
    what = rng.choice(("clone", "clone", "mul", "add", "exp", "sigmoid", "sum"))
    if what in ("mul", "add"):
        fitting = [other for other in tensors if _broadcasts(variables[other], variables[number])]
        return Step(what, (number, rng.choice(fitting or tensors)))
    return Step(what, (number,))


def _broadcasts(other: Tensor, x: Tensor) -> bool:
    try:
        return torch.broadcast_shapes(other.shape, x.shape) == x.shape
    except RuntimeError:
        return False


def _ask(rng: random.Random, variables: Variables) -> Ask:
    numbers = [number for number, value in enumerate(variables) if value is not None]
    tensors = [number for number in numbers if isinstance(variables[number], Tensor)]
    outputs = rng.sample(tensors, min(len(tensors), rng.randint(1, 3)))
    inputs = rng.sample(numbers, min(len(numbers), rng.randint(1, 3)))
    return Ask(tuple(outputs), tuple(inputs), rng.random() < 0.5)
