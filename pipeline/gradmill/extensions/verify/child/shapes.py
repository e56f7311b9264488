"""Shapes for the tensors of a schema: a theme gives all arguments shapes that may fit each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random

import torch

Shape = tuple[int, ...]
Theme = Callable[[str], Shape]  # the shape of the tensor of this name

CHANNELS, SIDE, KERNEL = 4, 4, 2
# Which of several elements at one index such operators keep is undefined.
OVERWRITES = re.compile("(index_copy|index_put|index_put_impl|put|scatter)_?$")
FLAT = re.compile("::put_?$")  # whose indices count all elements
SCALES = {"scales": -1, "scales_w": -1, "scales_h": -2, "scales_d": -3}  # the dimension of each
DIM = re.compile(r"dim\w*|axis|axes|dimension|.*_dim")  # the names of dimensions

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


def _broadcast(rng: Random) -> Theme:
    return lambda name: rng.choice(_BROADCAST)


def _mixed(rng: Random) -> Theme:
    return lambda name: rng.choice(_MIXED)


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


_GENERAL = (_all_alike, _all_alike, _all_alike, _broadcast, _mixed, _mixed, _channels, _layers)
