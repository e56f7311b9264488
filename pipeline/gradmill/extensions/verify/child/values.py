"""Samples made from a schema alone: values that types, names and defaults suggest, in shapes that may fit each other,
and that the operator accepts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

import torch
from torch import Tensor

from gradmill.extensions.verify.child.calls import DIM, OVERWRITES, Calls, is_float, tensors
from gradmill.extensions.verify.child.calls import Values as Call
from gradmill.extensions.verify.child.from_opinfo import signature

Shape = tuple[int, ...]
Theme = Callable[[str], Shape]  # the shape of the tensor of this name

CHANNELS, SIDE, KERNEL = 4, 4, 2

_BROADCAST: tuple[Shape, ...] = ((2, 3), (3,), (2, 1), (1, 3), (), (1, 1))
_MIXED: tuple[Shape, ...] = ((2, 3), (3, 2), (3, 3), (3,), (2,), (2, 2, 3), (2, 3, 2), (2, 2, 2), ())
_GRID, _SIDES = 3, (2, 3, 6, 4, 1, 5)  # of gradients: where there is a grid, and elsewhere

# What tensors of these names are in operators on channels: a vector with a value for each.
_PER_CHANNEL = ".*(bias|running|save_|mean|rstd|invstd|scale|zero_point).*|.*var"
_WEIGHT = ".*weight.*"

# Names that products of matrices have, or directions with their lengths, with shapes that fit.
_FACTORS: dict[str, Shape] = {
    **{"mat": (2, 3), "mat1": (2, 3), "mat2": (3, 4), "vec": (3,), "vec1": (2,), "vec2": (4,)},
    **{"batch1": (2, 2, 3), "batch2": (2, 3, 4)},
    **{"v": (2, 3), "g": (2, 1)},
}
# Sequences of length 4, a batch of 2, 3 channels or classes.
_SEQUENCES: dict[str, Shape] = {
    **{"self": (4, 2, 3), "weight": (2, 3, 2)},
    **{"log_probs": (4, 2, 3), "targets": (2, 2)},
}
_SUMS: tuple[Shape, ...] = ((2, 4), (2,), (2, 2, 4), (4,), (2, 3), (2, 2, 3), (3,), ())

TRIES = 300
FLAT = re.compile("::put_?$")  # whose indices count all elements

STRINGS = {
    "reduce": ("sum", "mean", "amax", "amin", "prod"),
    "reduction": ("mean", "sum", "none"),
    "mode": ("reduced", "complete", "r", "constant"),
    "rounding_mode": ("floor", "trunc"),
    "approximate": ("none", "tanh"),
    "UPLO": ("L", "U"),
}
ANY_STRING = ("mean", "sum", "none", "tanh", "same", "valid", "floor")

_SIZE = re.compile(r".*size[s]?|shape|normalized_shape")

# Lists of integers: what one element is, where all are the same.
_ELEMENTS = {
    "kernel_size": (KERNEL, 1, 3),
    "stride": (1, 2),
    "padding": (0, 1),
    "dilation": (1, 1, 2),
    "output_padding": (0,),
    "output_size": (2, 6, 3, SIDE, 5),
    "blocksize": (1,),
    "input_lengths": (2,),
    "target_lengths": (1, 2),
}
CHOICES = dict.fromkeys(("reduction", "normalization", "interpolation_mode", "padding_mode"), (0, 1, 2))
_INTEGERS = {
    "groups": (1, 2, CHANNELS),
    "group": (1, 2),
    **CHOICES,
    "N": (2,),
    "C": (CHANNELS,),
    "HxW": (1, 3, SIDE),
    "num_weights": (3,),
    "start": (0, 1),
    "end": (1, 2),
    "quant_min": (0, -128),
    "quant_max": (127, 255),
}

SMALL = {"eps": (1e-5, 0.1), "epsilon": (1e-5, 0.1), "rcond": (1e-12,), "rtol": (1e-12,), "atol": (1e-12,)}

INDEX = re.compile(
    r"ind(ex|ices)|.*_indices|targets?|offsets?.*|.*lengths?|.*pivots|n_idx|n_offsets|offset2bag|.*seq.*"
)
_MASK = re.compile(r"(.*_)?mask|condition|is_target|.*observer_on|.*_quant_on|.*enabled")

_STYLES = ((-2.0, 2.0), (-2.0, 2.0), (0.1, 0.9), (0.3, 2.0), (1.2, 3.0))  # ranges of random numbers
_COMPLEX = 0.15


class Values:
    """Draws values for the arguments of the operator `name`: reproducible for one seed."""

    def __init__(self, rng: Random, name: str) -> None:
        self.rng = rng
        self._overwrites, self._is_flat = bool(OVERWRITES.search(name)), bool(FLAT.search(name))
        self._generator = torch.Generator().manual_seed(rng.getrandbits(32))
        self._style = _STYLES[0]
        self._is_complex = False

    def draw(self, argument: Any, theme: Theme, *, first: bool = False) -> Any:
        """A value for one argument; `first`: its default, if it has one."""
        if argument.has_default_value() and (first or self.rng.random() < 0.4):
            return argument.default_value
        kind = str(argument.real_type)
        if kind.startswith("Optional["):
            if self.rng.random() < 0.4:
                return None
            kind = kind[len("Optional[") : -1]
        return self.of_kind(kind, argument.name, argument.N, theme)

    def restyle(self) -> None:
        """What follows is drawn from another range."""
        self._style = self.rng.choice(_STYLES)
        self._is_complex = self.rng.random() < _COMPLEX

    def of_kind(self, kind: str, name: str, length: int | None, theme: Theme) -> Any:
        """A value of a type as TorchScript writes it, without Optional."""
        if kind == "Tensor":
            return self.tensor(name, theme(name))
        if kind.startswith("List["):
            return self._list(kind[len("List[") : -1], name, length, theme)
        if kind == "int":
            return self._integer(name, theme)
        if kind in ("float", "number"):
            usual = (0.5, 2.0, 1.0, 1.5, 0.25, 3.0) if kind == "float" else (0.5, 2, 1, 1.5, 3, -0.75)
            return self.rng.choice(SMALL.get(name, usual))
        if kind == "bool":
            return self.rng.random() < 0.5
        if kind == "str":
            return self.rng.choice(STRINGS.get(name, ANY_STRING))
        return torch.float64 if kind == "ScalarType" else torch.device("cpu") if kind == "Device" else None

    def tensor(self, name: str, shape: Shape) -> Tensor:
        """Of random numbers; of small indices or of bools where the name says so, and now and then elsewhere."""
        if name in _ELEMENTS:
            return torch.full(shape, self.rng.choice(_ELEMENTS[name]))
        unusual = self.rng.random()
        if INDEX.fullmatch(name) and unusual > 0.1:
            return self._index(self.rng.choice((shape, shape, shape[:1], shape[:2])))
        if _MASK.fullmatch(name) and unusual > 0.1:
            return torch.rand(shape, generator=self._generator) < 0.5
        if unusual < 0.03 and not INDEX.fullmatch(name):
            return torch.randint(0, 2, shape, generator=self._generator)
        return torch.complex(self._numbers(shape), self._numbers(shape)) if self._is_complex else self._numbers(shape)

    def _index(self, shape: Shape) -> Tensor:
        """Of indices: small ones, or ones that differ along each dimension."""
        if not self._overwrites and self.rng.random() < 0.5:
            return torch.randint(0, 2, shape, generator=self._generator)
        if self._is_flat:
            return torch.arange(torch.Size(shape).numel()).reshape(shape)
        length = min(shape, default=1)
        places = torch.meshgrid(*[torch.arange(length)] * len(shape), indexing="ij") if shape else (torch.tensor(1),)
        return (torch.stack(places).sum(0) + self.rng.randrange(length)) % length

    def _numbers(self, shape: Shape) -> Tensor:
        low, high = self._style
        return torch.rand(shape, generator=self._generator, dtype=torch.float64) * (high - low) + low

    def _list(self, kind: str, name: str, length: int | None, theme: Theme) -> list[Any]:
        if kind == "Optional[Tensor]":
            index = [self.tensor("index", theme("index")[:1]) for _ in range(self.rng.choice((1, 1, 2)))]
            return [None, *index] if self.rng.random() < 0.3 else list(index)
        if kind != "int":
            count = length or self.rng.choice((2, 2, 1, 3))
            return [self.of_kind(kind, name, None, theme) for _ in range(count)]
        if name in _ELEMENTS:
            return [self.rng.choice(_ELEMENTS[name])] * (length or self.rng.choice((1, 2, 3)))
        if DIM.fullmatch(name):
            return list(self.rng.choice(((0,), (1,), (-1,), (0, 1), (-1, 0), (1, -2), ())))
        if _SIZE.fullmatch(name):
            return self._size(theme)
        return [self.rng.choice((1, 0, 2))] * (length or self.rng.choice((1, 2, 2, 3)))

    def _size(self, theme: Theme) -> list[int]:
        shape = list(theme("self"))
        return self.rng.choice((shape, shape, shape[-1:], [-1], [2, *shape], shape[::-1], [2, 3]))

    def _integer(self, name: str, theme: Theme) -> int:
        if name in _INTEGERS:
            return self.rng.choice(_INTEGERS[name])
        if DIM.fullmatch(name):
            return self.rng.choice((0, 1, -1, -2))
        return self.rng.choice((1, 2, 0, 3))


def made(calls: Calls, schema: torch._C.FunctionSchema, limit: int) -> Iterator[Call]:
    """Up to `limit` calls that differ in shapes, types or values that are not tensors, with finite outputs. The order
    is pseudo-random and fixed by the schema's text."""
    rng = Random(str(schema))  # noqa: S311 - samples, not secrets
    values = Values(rng, schema.name)
    accepted: list[tuple[Call, Theme]] = []
    seen = set()
    for number in range(TRIES):
        if len(accepted) >= limit:
            return
        call, theme = _candidate(schema, values, accepted, first=number < TRIES // 6)
        key = tuple(map(signature, call))
        if key not in seen and any(map(is_float, tensors(list(call)))) and calls.accepts(call, finite=True):
            accepted.append((call, theme))
            yield call
        seen.add(key)


def _candidate(
    schema: torch._C.FunctionSchema, values: Values, accepted: list[tuple[Call, Theme]], *, first: bool
) -> tuple[Call, Theme]:
    """Values for all arguments; or, every other time, those of an accepted call with some of them changed."""
    values.restyle()
    if accepted and values.rng.random() < 0.5:
        call, theme = values.rng.choice(accepted)
        return tuple(
            values.draw(each, theme) if values.rng.random() < 0.3 else old for each, old in zip(schema.arguments, call)
        ), theme
    theme = themes(schema, values.rng)
    return tuple(values.draw(each, theme, first=first) for each in schema.arguments), theme


def themes(schema: torch._C.FunctionSchema, rng: Random) -> Theme:
    """A theme for one try, drawn among those that the schema's names speak for."""
    names = {each.name for each in schema.arguments}
    ranks = [int(each) for each in re.findall(r"(\d)d", schema.name)]
    windows = names & {"kernel_size", "padding", "stride", "output_size", "dilation", "groups", "input_size", "theta"}
    if (ranks or windows) and rng.random() < 0.8:
        return _images(ranks[0] if ranks else rng.choice((1, 2, 3)), rng, (_GRID,) if "grid" in names else _SIDES)
    if ("log_probs" in names or {"weight", "pad"} <= names) and rng.random() < 0.8:
        return _named(_SEQUENCES, (2,))
    if {"src", "start"} <= names and rng.random() < 0.8:  # a tensor, and what may be a slice of it
        return _named({"src": rng.choice(((1, 3), (2, 1), (2, 2)))}, (2, 3))
    if names & _FACTORS.keys() and rng.random() < 0.7:  # a product and what it is added to
        return _named(_FACTORS, rng.choice(_SUMS))
    if any(re.fullmatch(_PER_CHANNEL, name) for name in names) and rng.random() < 0.6:
        return rng.choice((_channels, _layers))(rng)
    return rng.choice(_GENERAL)(rng)


def _named(shapes: Mapping[str, Shape], other: Shape) -> Theme:
    """The shape of the first pattern that fits a name; `other` if none does."""
    return lambda name: next((shape for pattern, shape in shapes.items() if re.fullmatch(pattern, name)), other)


def _all_alike(rng: Random) -> Theme:
    return _named({}, rng.choice(((2, 3), (2, 3), (3, 3), (3,), (), (2, 3, 3), (2, 2, 3, 3))))


def _any_of(shapes: Sequence[Shape]) -> Callable[[Random], Theme]:
    return lambda rng: lambda name: rng.choice(shapes)


def _channels(rng: Random) -> Theme:
    """(N, C, …) with a vector for channels."""
    shape = (2, CHANNELS, *rng.choice(((), (3,), (2, 2))))
    return _named({f"{_PER_CHANNEL}|{_WEIGHT}": (CHANNELS,)}, shape)


def _layers(rng: Random) -> Theme:
    """(N, …) whose last dimension is normalized: statistics have a value for each N."""
    statistics = rng.choice(((2, 1), (2,)))
    return _named({"mean|rstd|save_.*": statistics, f"{_PER_CHANNEL}|{_WEIGHT}": (3,)}, (2, 3))


def _images(rank: int, rng: Random, sides: Shape) -> Theme:
    """(N, C, sides …), a kernel of weights, gradients of several sizes."""
    batch = 2 if rank < 3 else 1
    kernel = (CHANNELS, rng.choice((CHANNELS, CHANNELS // 2, 1)), *[KERNEL] * rank)
    side = rng.choice(sides)
    shapes = {
        ".*grad.*|indices": (batch, CHANNELS, *[side] * rank),
        _WEIGHT: kernel,
        "grid": (batch, *[_GRID] * rank, rank),
        "theta": (batch, rank, rank + 1),
        "random_samples": (batch, CHANNELS, rank),
        _PER_CHANNEL: (CHANNELS,),
    }
    return _named(shapes, (batch, CHANNELS, *[SIDE] * rank))


_GENERAL = (*[_all_alike] * 3, _any_of(_BROADCAST), *[_any_of(_MIXED)] * 2, _channels, _layers)
