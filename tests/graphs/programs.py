"""Random straight-line programs: views, writes in place, arithmetic, outputs that alias.

A program is the text of a function in a graph file. The writer tracks shapes only; tests discard a program whose
forward fails in eager.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import NamedTuple

Shape = tuple[int, ...]

SHAPE: Shape = (4, 6)
LARGEST = 200  # elements of a tensor


class Variable(NamedTuple):
    """A tensor of a program."""

    name: str
    shape: Shape


class Program(NamedTuple):
    """A function, and which of its inputs may share storage."""

    name: str
    text: str
    inputs: int
    aliased: bool


class Writer:
    """Writes one program."""

    def __init__(self, name: str, seed: int) -> None:
        self.random = random.Random(seed)
        self.name = name
        self.lines: list[str] = []
        self.count = 0
        self.frozen = False  # whether writes are not allowed, since a multi-output view exists
        inputs = self.random.randint(1, 3)
        self.aliased = inputs > 1 and self.random.random() < 0.2
        self.known = [Variable(f"x{i}", SHAPE) for i in range(inputs)]
        self.inputs = list(self.known)

    def program(self) -> Program:
        """The program."""
        for _ in range(self.random.randint(2, 9)):
            step = self.random.choices(
                [self._compute, self._view, self._write, self._quiet, self._looks, self._out], [6, 8, 10, 2, 1, 1]
            )[0]
            self.lines += step()
        annotation = 'Annotated[Tensor, "alias:a"]' if self.aliased else "Tensor"
        parameters = ", ".join(f"{each.name}: {annotation}" for each in self.inputs)
        returned = self._outputs()
        kind = "Tensor" if len(returned) == 1 else f"tuple[{', '.join(['Tensor'] * len(returned))}]"
        body = "\n".join(f"    {line}" for line in [*self.lines, f"return {', '.join(v.name for v in returned)}"])
        text = f"def {self.name}({parameters}) -> {kind}:\n{body}\n"
        return Program(self.name, text, len(self.inputs), self.aliased)

    def _outputs(self) -> list[Variable]:
        count = self.random.choice([1, 1, 2, 2, 3])
        returned = [self.random.choice(self.known) for _ in range(count)]
        return [*returned, self.known[-1]] if self.random.random() < 0.7 else returned

    def _new(self, shape: Shape) -> Variable:
        self.count += 1
        variable = Variable(f"v{self.count}", shape)
        self.known.append(variable)
        return variable

    def _pick(self) -> Variable:
        recent = self.known[-4:] if self.random.random() < 0.6 else self.known
        return self.random.choice(recent)

    def _fitting(self, shape: Shape) -> str:
        """An operand that broadcasts to exactly this shape."""
        fitting = [v for v in self.known if fits(v.shape, shape)]
        if fitting and self.random.random() < 0.8:
            return self.random.choice(fitting).name
        return self.random.choice(["2", "0.5", "1.5"])

    # ---- steps

    def _compute(self) -> list[str]:
        of = self._pick()
        kind = self.random.randrange(8)
        if kind == 0:
            return [f"{self._new(of.shape).name} = {of.name}.{self.random.choice(UNARY)}()"]
        if kind > 4:
            same = self.random.choice([each.name for each in self.known if each.shape == of.shape])
            made = self.random.choice(RESULTS)(self.random, of.shape)
            if made is not None and math.prod(made[1]) <= LARGEST:
                text, shape = made
                return [f"{self._new(shape).name} = {text.format(x=of.name, y=same)}"]
        if kind == 1 and of.shape:
            dim = self.random.randrange(len(of.shape))
            shape = of.shape[:dim] + of.shape[dim + 1 :]
            return [f"{self._new(shape).name} = {of.name}.sum({dim})"]
        if kind == 2:
            return [f"{self._new(of.shape).name} = {of.name}.clone()"]
        other = self._fitting(of.shape)
        return [f"{self._new(of.shape).name} = {of.name} {self.random.choice('+-*')} {other}"]

    def _view(self) -> list[str]:
        of = self._pick()
        for _ in range(8):
            made = self.random.choice(VIEWS)(self.random, of.shape)
            if made is not None:
                text, shape = made
                self.frozen |= text.startswith((".unbind", ".split", ".chunk", ".tensor_split"))
                return [f"{self._new(shape).name} = {of.name}{text}"]
        return [f"{self._new(of.shape).name} = {of.name}.clone()"]

    def _write(self) -> list[str]:
        if self.frozen:
            return self._compute()
        of = self._pick()
        kind = self.random.randrange(9)
        other = self._fitting(of.shape)
        if kind == 0:
            return [f"{of.name}.{self.random.choice(UNARY)}_()"]
        if kind > 6:
            same = self.random.choice([each.name for each in self.known if each.shape == of.shape])
            return [self.random.choice(WRITES).format(x=of.name, y=same, other=other)]
        if kind == 1:
            return [f"{of.name}.{self.random.choice(('add_', 'mul_', 'sub_'))}({other})"]
        if kind == 2:
            return (
                [f"{of.name} {self.random.choice('+-*')}= {other}"]
                if of not in self.inputs
                else [f"{of.name}.mul_({other})"]
            )
        if kind == 3:
            return [f"{of.name}.copy_({other})" if not other[0].isdigit() else f"{of.name}.fill_({other})"]
        if kind == 4:
            return [f"{of.name}.zero_()"] if self.random.random() < 0.3 else [f"{of.name}.mul_(0.5)"]
        view = self.random.choice(VIEWS)(self.random, of.shape)
        if view is None or not view[0].startswith("["):
            return [f"{of.name}.add_({other})"]
        text, shape = view
        inner, sign = self._fitting(shape), self.random.choice(("=", "*=", "+="))
        if sign == "=" and not inner[0].isdigit() and self.random.random() < 0.3:
            inner += "[None]"  # an assignment drops leading sizes of 1
        return [f"{of.name}{text} {sign} {inner}"]

    def _looks(self) -> list[str]:
        """An operator that mutates the metadata of a tensor in place."""
        of = self._pick()
        if self.frozen:
            return self._compute()
        text, shape = self.random.choice(LOOKS)(of.shape)
        self.known = [Variable(of.name, shape) if v == of else v for v in self.known]
        self.inputs = [Variable(of.name, shape) if v == of else v for v in self.inputs]
        return [f"{of.name}{text}"]

    def _out(self) -> list[str]:
        """An operator that writes to an argument, under no_grad, since eager refuses it otherwise."""
        of = self._pick()
        if self.frozen:
            return self._compute()
        other = self._fitting(of.shape)
        return ["with torch.no_grad():", f"    torch.mul({of.name}, {other}, out={of.name})"]

    def _quiet(self) -> list[str]:
        """A step or two under no_grad. Its views are only used there: eager refuses to write to them elsewhere."""
        before = list(self.known)
        steps = [
            line for _ in range(self.random.randint(1, 2)) for line in self.random.choice([self._view, self._write])()
        ]
        self.known = before
        return ["with torch.no_grad():", *(f"    {line}" for line in steps)]


def fits(shape: Shape, target: Shape) -> bool:
    """Whether a shape broadcasts to another one."""
    if len(shape) > len(target):
        return False
    return all(a in (1, b) for a, b in zip(reversed(shape), reversed(target)))


# ---- views: text after a tensor, and the resulting shape; None if the shape has no such view

UNARY = ("sin", "cos", "tanh", "neg", "sigmoid")

View = Callable[[random.Random, Shape], tuple[str, Shape] | None]


def _of(low: int, high: int, view: View, when: Callable[[Shape], bool] = lambda shape: True) -> View:
    """A view of tensors that have from `low` to `high` dimensions and pass a condition."""
    return lambda choose, shape: view(choose, shape) if low <= len(shape) <= high and when(shape) else None


_ALL = 9  # dimensions: more than any tensor has


def _halves(text: str, dim: int) -> View:
    """One of two parts along a dimension, the first of which may be larger."""

    def half(choose: random.Random, shape: Shape) -> tuple[str, Shape]:
        which, first = choose.randrange(2), (shape[dim] + 1) // 2
        sizes = [*shape]
        sizes[dim] = shape[dim] - first if which else first
        return f"{text}[{which}]", tuple(sizes)

    return _of(1, _ALL, half, lambda shape: shape[dim] > 1)


def _slice(choose: random.Random, shape: Shape) -> tuple[str, Shape]:
    start = choose.randrange(shape[0] - 1)
    end = choose.randrange(start + 1, shape[0] + 1)
    return f"[{start}:{end}]", (end - start, *shape[1:])


def _turned(choose: random.Random, shape: Shape) -> tuple[str, Shape]:
    order = choose.sample(range(len(shape)), len(shape))
    return f".permute({', '.join(map(str, order))})", tuple(shape[at] for at in order)


VIEWS: tuple[View, ...] = (
    lambda c, s: (c.choice((".double()", ".to(torch.float64)")), s),  # the same tensor under another name
    lambda c, s: (".squeeze()", tuple(size for size in s if size != 1)),
    _of(2, _ALL, _turned),
    _of(2, 2, lambda c, s: (".diagonal(1)", (min(s[0], s[1] - 1),)), lambda s: s[1] > 1),
    _of(1, 1, lambda c, s: (f".broadcast_to(2, {s[0]})", (2, *s))),
    _halves(".chunk(2, -1)", -1),
    _halves(".tensor_split(2)", 0),
    _of(1, _ALL, lambda c, s: (".movedim(0, -1)", (*s[1:], s[0]))),
    _of(1, _ALL, lambda c, s: (".squeeze(0)", s[1:]), lambda s: s[0] == 1),
    _of(1, 2, lambda c, s: (".unflatten(0, (2, -1))", (2, s[0] // 2, *s[1:])), lambda s: s[0] % 2 == 0),
    _of(2, 2, lambda c, s: (".expand(2, -1, -1)", (2, *s))),
    _of(1, _ALL, lambda c, s: (f".narrow(-1, 1, {s[-1] - 1})", (*s[:-1], s[-1] - 1)), lambda s: s[-1] > 1),
    _of(1, _ALL, lambda c, s: ("[::2]", ((s[0] + 1) // 2, *s[1:]))),
    _of(0, 2, lambda c, s: ("[..., None]", (*s, 1))),
    _of(2, _ALL, lambda c, s: (".mT", (*s[:-2], s[-1], s[-2]))),
    _of(
        1,
        _ALL,
        lambda c, s: (".reshape(2, -1)", (2, math.prod(s) // 2)),
        lambda s: math.prod(s) % 2 == 0 < math.prod(s),
    ),
    _of(1, _ALL, lambda c, s: (c.choice((".flatten()", ".ravel()")), (math.prod(s),))),
    # An error if the strides do not allow it.
    _of(1, _ALL, lambda c, s: (".view(-1)", (math.prod(s),)) if c.random() < 0.3 else None),
    _of(1, 2, lambda c, s: (".unfold(0, 2, 2)", (s[0] // 2, *s[1:], 2)), lambda s: s[0] > 1),
    _of(1, _ALL, lambda c, s: (f"[{c.randrange(s[0])}]", s[1:]), lambda s: s[0] > 0),
    _of(1, _ALL, lambda c, s: (f"[..., {c.randrange(s[-1])}]", s[:-1])),
    _of(1, _ALL, _slice, lambda s: s[0] > 1),
    _of(2, _ALL, lambda c, s: ("[:, ::2]", (s[0], (s[1] + 1) // 2, *s[2:]))),
    _of(2, 2, lambda c, s: (".t()", s[::-1])),
    _of(0, 2, lambda c, s: (".unsqueeze(0)", (1, *s))),
    _of(2, _ALL, lambda c, s: (".transpose(0, -1)", (s[-1], *s[1:-1], s[0]))),
    _of(2, 2, lambda c, s: (".diagonal()", (min(s),))),
    _of(1, 1, lambda c, s: (".expand(2, -1)", (2, *s))),
    _of(1, _ALL, lambda c, s: (f".narrow(0, 0, {s[0] - 1})", (s[0] - 1, *s[1:])), lambda s: s[0] > 1),
    _of(1, _ALL, lambda c, s: (f".unbind(0)[{c.randrange(2)}]", s[1:]), lambda s: s[0] > 1),
    _of(1, _ALL, lambda c, s: (f".split(2)[{c.randrange(2)}]", (2, *s[1:])), lambda s: s[0] == 4),
    lambda c, s: (".detach()", s) if c.random() < 0.3 else None,
    _of(1, _ALL, lambda c, s: (".reshape(-1)", (math.prod(s),))),  # a view or a copy, depending on the strides
    _of(2, _ALL, lambda c, s: (".contiguous()", s)),
)

# ---- new tensors: text with a tensor `x` and another one of its shape, `y`; None if the shape has no such result


def _same(text: str) -> View:
    return lambda choose, shape: (text, shape)


def _reduced(text: str) -> View:
    return _of(1, _ALL, lambda choose, shape: (text, shape[1:]))


def _of_dims(text: str) -> View:
    return _of(1, _ALL, _same(text))


RESULTS: tuple[View, ...] = (
    *map(_same, ("{x}.relu()", "{x}.clamp(-0.5, 0.5)", "{x}.abs()", "{x}.square()", "{x} / 2", "{x}.exp()")),
    *map(_same, ("torch.where({x} > 0, {x}, {y})", "{x}.masked_fill({y} > 0, 0.5)", "torch.addcmul({x}, {y}, {y})")),
    *map(_same, ("torch.nn.functional.silu({x})", "torch.nn.functional.dropout({x}, 0.5)", "{x}.negative()")),
    *map(_same, ("{x}.sigmoid().log()", "{x}.sinh()", "torch.hypot({x}, {y})")),
    *map(_same, ("torch.lerp({x}, {y}, 0.3)", "torch.maximum({x}, {y})", "{x}.multiply({y})", "{x}.subtract({y})")),
    *map(_of_dims, ("{x}.softmax(-1)", "{x}.cumsum(0)", "{x}.flip(0)", "{x}.roll(1, 0)", "{x}.log_softmax(0)")),
    *map(_reduced, ("{x}.amax(0)", "{x}.mean(0)", "{x}.prod(0)", "{x}.logsumexp(0)", "{x}.max(dim=0).values")),
    _of(1, _ALL, lambda c, s: ("torch.cat([{x}, {y}])", (2 * s[0], *s[1:]))),
    _of(0, 2, lambda c, s: ("torch.stack([{x}, {y}])", (2, *s))),
    _of(2, _ALL, lambda c, s: ("{x} @ {y}.mT", (*s[:-1], s[-2]))),
    _of(2, 2, lambda c, s: ("{x}.repeat(1, 2)", (s[0], 2 * s[1]))),
    _of(1, _ALL, lambda c, s: ("{x}[[1, 0]]", (2, *s[1:])), lambda s: s[0] > 1),
    lambda c, s: (c.choice(("{x}.sum()", "{x}.mean()", "{x}.square().sum().sqrt()")), ()),
)

# ---- writes in place: text with a tensor `x`, another one of its shape, `y`, and an operand

WRITES = (
    "{x}.relu_()",
    "{x}.clamp_(-0.5, 0.5)",
    "{x}.masked_fill_({y} > 0, 0.5)",
    "{x}[{y} > 0] = 0.5",
    "{x}.addcmul_({y}, {y})",
    "{x}.sub_({other}, alpha=0.5)",
    "{x}.div_(2)",
    "{x}.square_()",
    "{x}.lerp_({y}, 0.3)",
    "{x}.copy_({y}.sin())",
    "{x}.multiply_({other})",
    "torch.nn.functional.relu({x}, inplace=True)",
    "{x}.negative_()",
)

# ---- operators that mutate metadata in place: text after a tensor, and the resulting shape


def _swap(shape: Shape) -> tuple[str, Shape]:
    return (".transpose_(0, -1)", (shape[-1], *shape[1:-1], shape[0])) if len(shape) > 1 else _wrap(shape)


def _wrap(shape: Shape) -> tuple[str, Shape]:
    return (".unsqueeze_(0)", (1, *shape)) if len(shape) < 3 else _squeeze(shape)


def _squeeze(shape: Shape) -> tuple[str, Shape]:
    return ".squeeze_(0)", shape[1:] if shape[:1] == (1,) else shape


def _turn(shape: Shape) -> tuple[str, Shape]:
    return (".t_()", shape[::-1]) if len(shape) == 2 else _wrap(shape)


LOOKS = (_swap, _wrap, _squeeze, _turn)

HEADER = "from typing import Annotated\n\nimport torch\nfrom torch import Tensor\n"


def programs(seed: int, count: int) -> list[Program]:
    """`count` programs; the same ones for the same seed."""
    return [Writer(f"p{at}", seed * 1_000_003 + at).program() for at in range(count)]
