"""Arguments for the core set's graphs: by the parameters' annotations, or by function if these do not suffice."""

from __future__ import annotations

import inspect
import itertools
import math
import typing
from collections.abc import Callable
from typing import Any

import torch

Arguments = list[Any]

SHAPE = (4, 6)  # the default shape of a tensor


def tensor(*shape: int) -> torch.Tensor:
    """Numbers between 0.1 and 1.1: logarithms and powers of them exist."""
    return torch.rand(shape, dtype=torch.float64) + 0.1


def _regular(size: int) -> torch.Tensor:
    return tensor(size, size) + 3 * torch.eye(size, dtype=torch.float64)


def _index(*values: int) -> torch.Tensor:
    return torch.tensor(values)


def _one() -> Arguments:
    return [tensor(*SHAPE)]


def _pair() -> Arguments:
    return [tensor(*SHAPE), tensor(*SHAPE)]


def _same() -> Arguments:
    base = tensor(*SHAPE)
    return [base.view(*SHAPE), base.view(*SHAPE)]


def _overlapping() -> Arguments:
    base = tensor(SHAPE[0] + 1, SHAPE[1])
    return [base[:-1], base[1:]]


def _identical() -> Arguments:
    return [tensor(*SHAPE)] * 2


_ALIASED = [_pair, _same, _identical, _overlapping]
_LISTED: list[Callable[[], Arguments]] = [lambda: [_pair()]]

_UNPACKED_LISTS = ("two_computed", "two_and_one")

_REDUCTIONS = ("none", "mean", "sum", "batchmean", "least")
_MASKS: list[Callable[[], torch.Tensor]] = [
    lambda: torch.tensor([[1, 0, 1], [0, 1, 0], [0, 0, 1]]).bool(),
    lambda: torch.tensor([True, False, True]),
    lambda: _index(0, 2, 1, 2),
]

# For each function, the factories of its arguments, one for each case.
SAMPLES: dict[str, list[Callable[[], Arguments]]] = {
    # arithmetic
    "product": [lambda: [tensor(4, 6), tensor(6, 3)]],
    "affine": [lambda: [tensor(4, 6), tensor(3, 6), tensor(3)]],
    "broadcast": [lambda: [tensor(4, 6), tensor(6)], lambda: [tensor(4, 6), tensor(1, 1)]],
    # views
    "diagonal": [lambda: [tensor(4, 6)], lambda: [tensor(5, 5)]],
    "indexed": [lambda: [tensor(6, 6), _index(0, 3, 1)]],
    # data mutation
    "accumulated": [lambda: [tensor(1, 6), tensor(4, 6)]],
    "put": [lambda: [tensor(4, 6), _index(2, 0), tensor(2, 6)]],
    "put_in_zeros": [lambda: [tensor(4, 6), _index(2, 0)]],
    "added_at": [lambda: [tensor(4, 6), _index(2, 0, 2), tensor(3, 6)]],
    # metadata mutation
    "squeezed": [lambda: [tensor(1, 6)], lambda: [tensor(4, 6)]],
    "view_before": [lambda: [tensor(5, 5)]],
    # outputs
    "integer_view": [lambda: [tensor(*SHAPE), _index(1, 2, 3)]],
    "maybe_a_view": [lambda: [tensor(*SHAPE)], lambda: [tensor(*SHAPE).t()]],
    # bases
    "by_table": [_pair, _same, _identical],
    "metadata_of_one": [_pair, _same],
    "metadata_of_another": [lambda: [*_pair(), tensor(*SHAPE)], lambda: [(x := _same())[0], tensor(*SHAPE), x[1]]],
    "three": [
        lambda: [*_same(), tensor(*SHAPE), tensor(*SHAPE)],
        lambda: [*_overlapping(), tensor(*SHAPE), tensor(*SHAPE)],
    ],
    "two_groups": [lambda: [*_same(), *_same()], lambda: [*_pair(), *_same()]],
    # modes
    "optional": [lambda: [tensor(4, 6), tensor(3, 6)], lambda: [tensor(4, 6), tensor(3, 6), tensor(3)]],
    "normalized": [lambda: [tensor(4, 6)], lambda: [tensor(4, 6), tensor(6), tensor(6)]],
    "joined": [lambda: [[tensor(4, 2), tensor(4, 3)]], lambda: [[tensor(4, 2), tensor(4, 1), tensor(4, 3)]]],
    "repeated": [lambda: [tensor(*SHAPE), 2], lambda: [tensor(*SHAPE), 3, 2]],
    "sized": [lambda: [tensor(*SHAPE), 2], lambda: [tensor(2, 8), 4]],
    "shaped": [lambda: [tensor(*SHAPE), [2, -1]], lambda: [tensor(*SHAPE), [3, 2, 4]]],
    "switched": [lambda: [tensor(*SHAPE), True], lambda: [tensor(*SHAPE), False, 2.0]],
    "batch_normalized": [lambda: [tensor(5, 3, 2), tensor(3), tensor(3), tensor(3), tensor(3)]],
    # functions that torch implements in Python
    "relu6_of_limits": [lambda: [torch.tensor([0.0, 6.0, 3.0, -1.0, 7.0], dtype=torch.float64)]],
    "padding": [lambda at=at: [_index(0, 2, 1), tensor(3, 2), at] for at in (0, 2, -1, -3, 3, -4)],
    "normalized_rows": [lambda: [_index(0, 2), tensor(3, 2)]],
    "runs": [lambda: [_index(1, 1, 2, 2, 2, 1)]],
    "entropy": [_pair, lambda: [tensor(4, 6), tensor(6)]],
    "product_of_three": [lambda: [tensor(2, 3), tensor(3, 4), tensor(4, 2)]],
    "spectrum": [lambda: [tensor(2, 16)]],
    "margins": [lambda: [tensor(3, 4), _index(0, 3, 1), tensor(3, 4)]],
    "sampled": [lambda: [tensor(2, 3, 4, 5), tensor(2, 3, 2, 2) * 2 - 1.2]],
    "warped": [lambda: [tensor(2, 2, 3), tensor(2, 1, 3, 4)]],
    **{key: [lambda: [tensor(2, 3, 4, 4)]] for key in "pooled pooled_with_places enlarged unfolded_and_folded".split()},
    "enlarged_by": [lambda: [tensor(2, 3, 4, 4), 1.7]],
    "in_space": [lambda: [tensor(1, 2, 3, 2, 3)]],
    "bags": [lambda: [_index(0, 1, 1, 2, 1, 0).view(2, 3), tensor(4, 3), tensor(2, 3)]],
    "bags_at": [lambda: [_index(0, 1, 1, 2, 3), tensor(4, 3), _index(0, 2, 5)]],
    "short_bags": [lambda: [_index(0, 1, 1, 2, 1, 0).view(2, 3), tensor(4, 3)]],
    "of_variances": [lambda size=size: [tensor(4, 3), tensor(4, 3), tensor(*size)] for size in ((4, 3), (4, 1), (4,))],
    "sums_of_powers": [lambda: [tensor(2, 3, 4, 5) - 0.6]],
    "local_responses": [lambda sizes=sizes: [tensor(*sizes)] for sizes in ((2, 4, 3), (2, 4, 3, 2), (2, 4, 2, 3, 2))],
    "many_labels": [lambda: [*_pair(), tensor(6)]],
    # numbers
    "at_least_one_and_a_half": [lambda n=n: [tensor(*SHAPE), _index(1, 2), n] for n in (1, 2)],
    "of_either": [lambda n=n: [tensor(*SHAPE), n] for n in (1, 1.5, 2.0, -1, -3.0)],
    "in_place_of_a_float": [lambda n=n: [tensor(*SHAPE), n] for n in (0, 1)],
    "flags": [
        lambda n=n, k=k, on=on: [tensor(*SHAPE), n, k, on]
        for n, k, on in ((5, 2, True), (0, 62, False), (5, 63, True), (5, -1, True))
    ],
    "most_of_three": [lambda: [tensor(*SHAPE), 3, 2, 4], lambda: [tensor(*SHAPE), 1, 4, 2]],
    "first_row_set": [lambda: [tensor(*SHAPE), 2], lambda: [tensor(*SHAPE), 1.5]],
    **{
        name: [lambda r=r, s=s: [tensor(*s), tensor(*s), r] for r in _REDUCTIONS for s in (SHAPE, ())]
        for name in ("loss_by_name", "losses_by_name", "divergence_by_name")
    },
    "rounded_to_digits": [
        lambda s=s, n=n: [tensor(*SHAPE), s, n]
        for s, n in ((2.675, 1), (-0.125, 25), (1e300, 3), (math.nan, 4), (0.5, 2**40), (1.5, -400))
    ],
    # subscripts
    "after_dots": [
        lambda sizes=sizes, index=index: [tensor(*sizes), index]
        for sizes in ((4, 4), (2, 3, 4, 4))
        for index in (_index(1, 0, -1), _index(0, 1, 1, 1).view(2, 2))
    ],
    "assigned_after_dots": [
        lambda: [tensor(4, 4), _index(1, 0), tensor(4)],
        lambda: [tensor(3, 4, 4), _index(2, 3), tensor(3, 2, 4)],
    ],
    # composites
    "product_over_none": [
        lambda one=one, other=other: [tensor(*one), tensor(*other)]
        for one, other in (
            *(((2, 3, 0), (0, 4)), ((2, 3), (3, 0)), ((2, 3, 0), (2, 0, 4)), ((2, 0), (0,)), ((0,), (0, 3))),
            *(((2, 0, 3), (3, 2)), ((2, 2, 3, 0), (0,)), ((0,), (2, 0, 3))),
        )
    ],
    "affine_over_none": [
        lambda one=one, other=other: [tensor(*one), tensor(*other), tensor(other[0])]
        for one, other in (((2, 3, 0), (4, 0)), ((2, 0, 3), (4, 3)), ((2, 3, 3), (0, 3)), ((0,), (4, 0)))
    ],
    **{name: [lambda: [tensor(5, 3), _index(0, 2, 1)]] for name in ("sparse_gradient_last", "sparse_gradients")},
    # masks
    **{
        name: [lambda mask=mask: [tensor(3, 3, 3, 3), mask()] for mask in _MASKS]
        for name in ("mask_then_number", "mask_then_slice")
    },
    "mask_and_dots": [lambda mask=mask: [tensor(3, 3, 3, 3), mask(), _index(0, 1, 0, 2)] for mask in _MASKS],
    "mask_assigned": [lambda mask=mask: [tensor(3, 3, 3, 3), mask(), tensor(3)] for mask in _MASKS],
    # arguments
    "maybe_dim": [_one, lambda: [tensor(*SHAPE), 1]],
    "maybe_saved": [_one, lambda: [tensor(*SHAPE), 0.1]],
    "maybe_mode": [_one, lambda: [tensor(*SHAPE), "floor"]],
    "maybe_limits": [lambda: [tensor(*SHAPE), 0.5], lambda: [tensor(*SHAPE), None, 1]],
    "maybe_dims": [_one, lambda: [tensor(*SHAPE), [0]], lambda: [tensor(*SHAPE), [1, 0]]],
    "maybe_dtype": [_one, lambda: [tensor(*SHAPE), torch.float32]],
    "either": [lambda: [tensor(*SHAPE), 2], lambda: [tensor(*SHAPE), 1.5]],
    "float_item": [lambda: [tensor(*SHAPE), [0.5, 1.5]]],
    "int_item": [lambda: [tensor(*SHAPE), [3, 1]]],
    "bool_item": [lambda: [tensor(*SHAPE), [True]], lambda: [tensor(*SHAPE), [False]]],
    "str_item": [lambda: [tensor(*SHAPE), ["trunc", "floor"]]],
    "numbers_back": [lambda: [[1, 2], [0.5], None, tensor(2)], lambda: [[], [], 3, tensor(2)]],
    **dict.fromkeys(["list_back", "foreach", "taken_apart"], _LISTED),
    # names
    "of_sizes": [lambda: [_pair(), tensor(*SHAPE)]],
    # shares
    **{
        name: [_pair, lambda: [tensor(*SHAPE), tensor(*SHAPE).float()]]
        for name in ("of_one_type", "written_of_another_type")
    },
    **{
        name: [lambda: [tensor(*SHAPE), True], lambda: [tensor(*SHAPE), False]]
        for name in (
            "perhaps_dropped_and_used",
            "input_perhaps_dropped_written",
            "perhaps_dropped_under_no_grad",
            "dropped_in_place",
            "input_dropped_in_place",
            "input_dropped_on_demand",
        )
    },
    "input_with_gaps": [
        _pair,
        lambda: [tensor(4, 12)[:, ::2], tensor(*SHAPE)],
        lambda: [tensor(6, 8)[:, ::2].t(), tensor(4, 6)],
    ],
    "perhaps_dropped_written": [lambda: [*_pair(), True], lambda: [*_pair(), False]],
    **{
        name: [lambda: [tensor(*SHAPE)], lambda: [tensor(6)], lambda: [tensor(2, 3, 2)]]
        for name in ("at_least", "at_least_written", "input_at_least_written")
    },
    **{
        name: [_pair, lambda: [tensor(*SHAPE), tensor(6)], lambda: [tensor(*SHAPE), tensor(1, 6)]]
        for name in ("broadcast_together_written", "each_at_least")
    },
    # versions
    "view_of_view_or_copy": [_one, lambda: [tensor(6, 4).t()], lambda: [tensor(4, 12)[:, ::2]]],
    "row_of_dropped": [lambda: [tensor(*SHAPE), True], lambda: [tensor(*SHAPE), False]],
    "one_of_two_copied": [lambda: [*_pair(), tensor(*SHAPE)], lambda: [*_same(), tensor(*SHAPE)]],
    "one_of_two_flat": [*_ALIASED, lambda: [(x := tensor(6, 4)).t(), x.t()]],
    "one_of_three_flat": [
        lambda: [tensor(*SHAPE), *_same(), True],
        lambda: [*_same(), tensor(*SHAPE), True],
        lambda: [*_same(), tensor(*SHAPE), False],
        lambda: [(x := tensor(6, 4)).t(), tensor(*SHAPE), x.t(), True],
        lambda: [(x := tensor(6, 4)).t(), x.t(), tensor(*SHAPE), True],
    ],
    # statistics
    "instance_normalized": [lambda: [tensor(5, 3, 2), tensor(3), tensor(3)]],
    "instance_normalized_on_demand": [
        lambda: [tensor(5, 3, 2), tensor(3), tensor(3), True],
        lambda: [tensor(5, 3, 2), tensor(3), tensor(3), False],
    ],
    "batch_normalized_in_place": [lambda n=n: [tensor(n, 3, 2), tensor(3), tensor(3)] for n in (5, 0)],
    "batch_evaluated": [lambda n=n: [tensor(n, 3, 2), tensor(3), tensor(3), tensor(3), tensor(3)] for n in (5, 0)],
    # integers
    "factored_and_solved": [lambda: [_regular(4), tensor(4, 2)]],
    "solved_by_pivots_of_another": [lambda: [_regular(4), _regular(4)]],
    "rounded_like": [lambda: [tensor(*SHAPE), _index(1, 2)], _pair],
    "one_of_many": [lambda: [_regular(4), *(tensor(4, 4) for _ in range(5))]],
    # unpacking
    **{name: [lambda n=n: [[tensor(*SHAPE) for _ in range(n)]] for n in (1, 2, 3)] for name in _UNPACKED_LISTS},
    **{
        name: [lambda shape=shape: [tensor(*shape)] for shape in ((2, 2), (4, 6), (4, 2), (4,), (1, 6), (2, 4, 6))]
        for name in ("last_two_sizes", "two_rows")
    },
    "two_places": [lambda shape=shape: [tensor(*shape)] for shape in ((4,), (4, 6), (2, 4, 6))],
    # together
    "attention": [lambda: [tensor(4, 6), tensor(5, 6), tensor(5, 3)]],
    "cell": [lambda: [tensor(4, 3), tensor(4, 2), tensor(4, 2), tensor(5, 8)]],
    "two_layers": [lambda: [tensor(4, 6), tensor(6, 5) - 0.6, tensor(5, 2)]],
    "counted": [lambda: [tensor(*SHAPE), torch.tensor(3)]],
}

_BY_TYPE: dict[object, Callable[[], Any]] = {
    torch.Tensor: lambda: tensor(*SHAPE),
    int: lambda: 2,
    float: lambda: 0.5,
    bool: lambda: True,
}


def samples(function: Callable[..., Any]) -> list[Callable[[], Arguments]]:
    """The factories of a function's arguments; deterministic for a seed."""
    return SAMPLES.get(function.__name__) or [lambda: _by_annotations(function), *_sharing(function)]


def _by_annotations(function: Callable[..., Any]) -> Arguments:
    hints = typing.get_type_hints(function)
    names = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    return [_BY_TYPE[hints[name]]() for name in names]


def _sharing(function: Callable[..., Any]) -> list[Callable[[], Arguments]]:
    """Arguments of which two that may share memory do: all of it, as one tensor, or a part."""
    groups = [
        getattr(each.annotation, "__metadata__", None) for each in inspect.signature(function).parameters.values()
    ]
    pairs = [(i, j) for i, j in itertools.combinations(range(len(groups)), 2) if groups[i] and groups[i] == groups[j]]

    def made(i: int, j: int, two: Callable[[], Arguments]) -> Arguments:
        arguments: Arguments = [tensor(*SHAPE) for _ in groups]
        arguments[i], arguments[j] = two()
        return arguments

    return [lambda i=i, j=j, two=two: made(i, j, two) for i, j in pairs for two in (_same, _identical, _overlapping)]
