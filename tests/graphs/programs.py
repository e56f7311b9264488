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


def _select(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    if not shape or shape[0] < 1:
        return None
    return f"[{choose.randrange(shape[0])}]", shape[1:]


def _select_last(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (f"[..., {choose.randrange(shape[-1])}]", shape[:-1]) if shape else None


def _slice(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    if not shape or shape[0] < 2:
        return None
    start = choose.randrange(shape[0] - 1)
    end = choose.randrange(start + 1, shape[0] + 1)
    return f"[{start}:{end}]", (end - start, *shape[1:])


def _step(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    if len(shape) < 2:
        return None
    return "[:, ::2]", (shape[0], (shape[1] + 1) // 2, *shape[2:])


def _transposed(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (".t()", shape[::-1]) if len(shape) == 2 else None


def _unsqueezed(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (".unsqueeze(0)", (1, *shape)) if len(shape) < 3 else None


def _permuted(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (".transpose(0, -1)", (shape[-1], *shape[1:-1], shape[0])) if len(shape) > 1 else None


def _diagonal(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (".diagonal()", (min(shape),)) if len(shape) == 2 else None


def _expanded(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (".expand(2, -1)", (2, *shape)) if len(shape) == 1 else None


def _narrowed(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (f".narrow(0, 0, {shape[0] - 1})", (shape[0] - 1, *shape[1:])) if shape and shape[0] > 1 else None


def _item(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    if not shape or shape[0] < 2:
        return None
    return f".unbind(0)[{choose.randrange(2)}]", shape[1:]


def _part(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    if not shape or shape[0] != 4:
        return None
    return f".split(2)[{choose.randrange(2)}]", (2, *shape[1:])


def _flat(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    """A view or a copy, depending on the strides."""
    return (".reshape(-1)", (math.prod(shape),)) if shape else None


def _contiguous(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (".contiguous()", shape) if len(shape) > 1 else None


def _detached(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (".detach()", shape) if choose.random() < 0.3 else None


def _chunk(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    if not shape or shape[-1] < 2:
        return None
    which, first = choose.randrange(2), (shape[-1] + 1) // 2
    return f".chunk(2, -1)[{which}]", (*shape[:-1], shape[-1] - first if which else first)


def _tensor_split(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    if not shape or shape[0] < 2:
        return None
    which, first = choose.randrange(2), (shape[0] + 1) // 2
    return f".tensor_split(2)[{which}]", (shape[0] - first if which else first, *shape[1:])


def _moved(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (".movedim(0, -1)", (*shape[1:], shape[0])) if shape else None


def _squeezed(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (".squeeze(0)", shape[1:]) if shape[:1] == (1,) else None


def _unflattened(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    if not 0 < len(shape) < 3 or shape[0] % 2:
        return None
    return ".unflatten(0, (2, -1))", (2, shape[0] // 2, *shape[1:])


def _repeated(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (".expand(2, -1, -1)", (2, *shape)) if len(shape) == 2 else None


def _narrowed_last(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (f".narrow(-1, 1, {shape[-1] - 1})", (*shape[:-1], shape[-1] - 1)) if shape and shape[-1] > 1 else None


def _every_second(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return ("[::2]", ((shape[0] + 1) // 2, *shape[1:])) if shape else None


def _unsqueezed_last(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return ("[..., None]", (*shape, 1)) if len(shape) < 3 else None


def _matrices(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (".mT", (*shape[:-2], shape[-1], shape[-2])) if len(shape) > 1 else None


def _reshaped(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    size = math.prod(shape)
    return (".reshape(2, -1)", (2, size // 2)) if shape and size and not size % 2 else None


def _flattened(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (choose.choice((".flatten()", ".ravel()")), (math.prod(shape),)) if shape else None


def _viewed(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    """An error if the strides do not allow it."""
    return (".view(-1)", (math.prod(shape),)) if shape and choose.random() < 0.3 else None


def _windows(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (".unfold(0, 2, 2)", (shape[0] // 2, *shape[1:], 2)) if 0 < len(shape) < 3 and shape[0] > 1 else None


def _itself(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    """The same tensor under another name."""
    return choose.choice((".double()", ".to(torch.float64)")), shape


def _all_squeezed(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return ".squeeze()", tuple(size for size in shape if size != 1)


def _all_turned(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    order = choose.sample(range(len(shape)), len(shape))
    return (f".permute({', '.join(map(str, order))})", tuple(shape[at] for at in order)) if len(shape) > 1 else None


def _other_diagonal(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (".diagonal(1)", (min(shape[0], shape[1] - 1),)) if len(shape) == 2 and shape[1] > 1 else None


def _broadcast(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return (f".broadcast_to(2, {shape[0]})", (2, *shape)) if len(shape) == 1 else None


VIEWS: tuple[View, ...] = (
    _itself,
    _all_squeezed,
    _all_turned,
    _other_diagonal,
    _broadcast,
    _chunk,
    _tensor_split,
    _moved,
    _squeezed,
    _unflattened,
    _repeated,
    _narrowed_last,
    _every_second,
    _unsqueezed_last,
    _matrices,
    _reshaped,
    _flattened,
    _viewed,
    _windows,
    _select,
    _select_last,
    _slice,
    _step,
    _transposed,
    _unsqueezed,
    _permuted,
    _diagonal,
    _expanded,
    _narrowed,
    _item,
    _part,
    _detached,
    _flat,
    _contiguous,
)

# ---- new tensors: text with a tensor `x` and another one of its shape, `y`; None if the shape has no such result


def _same(text: str) -> View:
    return lambda choose, shape: (text, shape)


def _reduced(text: str) -> View:
    return lambda choose, shape: (text, shape[1:]) if shape else None


def _of_dims(text: str) -> View:
    return lambda choose, shape: (text, shape) if shape else None


def _joined(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return ("torch.cat([{x}, {y}])", (2 * shape[0], *shape[1:])) if shape else None


def _stacked(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return ("torch.stack([{x}, {y}])", (2, *shape)) if len(shape) < 3 else None


def _product(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return ("{x} @ {y}.mT", (*shape[:-1], shape[-2])) if len(shape) > 1 else None


def _tiled(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return ("{x}.repeat(1, 2)", (shape[0], 2 * shape[1])) if len(shape) == 2 else None


def _rows(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return ("{x}[[1, 0]]", (2, *shape[1:])) if shape and shape[0] > 1 else None


def _whole(choose: random.Random, shape: Shape) -> tuple[str, Shape] | None:
    return choose.choice(("{x}.sum()", "{x}.mean()", "{x}.square().sum().sqrt()")), ()


RESULTS: tuple[View, ...] = (
    *map(_same, ("{x}.relu()", "{x}.clamp(-0.5, 0.5)", "{x}.abs()", "{x}.square()", "{x} / 2", "{x}.exp()")),
    *map(_same, ("torch.where({x} > 0, {x}, {y})", "{x}.masked_fill({y} > 0, 0.5)", "torch.addcmul({x}, {y}, {y})")),
    *map(_same, ("torch.nn.functional.silu({x})", "torch.nn.functional.dropout({x}, 0.5)", "{x}.negative()")),
    *map(_same, ("{x}.sigmoid().log()", "{x}.sinh()", "torch.hypot({x}, {y})")),
    *map(_same, ("torch.lerp({x}, {y}, 0.3)", "torch.maximum({x}, {y})", "{x}.multiply({y})", "{x}.subtract({y})")),
    *map(_of_dims, ("{x}.softmax(-1)", "{x}.cumsum(0)", "{x}.flip(0)", "{x}.roll(1, 0)", "{x}.log_softmax(0)")),
    *map(_reduced, ("{x}.amax(0)", "{x}.mean(0)", "{x}.prod(0)", "{x}.logsumexp(0)", "{x}.max(dim=0).values")),
    _joined,
    _stacked,
    _product,
    _tiled,
    _rows,
    _whole,
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
