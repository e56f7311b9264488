"""A call of an operator below autograd: one value for each argument of its schema."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from gradmill.extensions.verify.child.probe import Probe

Values = tuple[Any, ...]
Gradients = Sequence[Tensor | None]  # of the members of inputs or outputs; None for an undefined one
Function = Callable[[Values], tuple[Any, Values]]  # of a call's values: what it returns, and the values after it

SEED = 20
# Which of several elements at one index such operators keep is undefined.
OVERWRITES = re.compile("(index_copy|index_put|index_put_impl|put|scatter)_?$")
_SCALES = {"scales": -1, "scales_w": -1, "scales_h": -2, "scales_d": -3}  # the dimension of each
DIM = re.compile(r"dim\w*|axis|axes|dimension|.*_dim")  # the names of dimensions
GUARD = 64  # elements on both sides of a tensor that no operator may read


class Calls:
    """The calls of one operator, `function`, whose schema is `schema`.

    All questions are asked of `probe`: an operator that does not check its arguments may end its process.
    """

    def __init__(self, function: Function, schema: torch._C.FunctionSchema, probe: Probe) -> None:
        self.function = function
        self.arguments = list(schema.arguments)
        self.overwrites = bool(OVERWRITES.search(schema.name))  # which of several elements at one index is undefined
        self.probe = probe
        self._takes_negative = True

    def outputs(self, values: Sequence[Any]) -> list[Tensor] | None:
        """The tensors that a call returns; None if the operator refuses it. Its inputs stay as they are, and random
        operators draw the same numbers in each call. Who reads past the end of a tensor, reads nan."""
        torch.default_generator.manual_seed(SEED)
        try:
            with torch.no_grad():
                return list(tensors(self.function(mapped(guarded, tuple(values)))[0]))
        except Exception:  # whatever an operator raises, it does not take these values
            return None

    def accepts(self, values: Sequence[Any], *, finite: bool = False) -> bool:
        """Whether the operator takes these values; `finite`: and what it returns has no nan, its first output no inf
        either: others may be logarithms that it saves."""

        def accepted() -> bool:
            outputs = self.outputs(values) if self._fits_scales(values) else None
            return (
                outputs is not None
                and self._counts_from_the_end(values, outputs)
                and (not finite or (all(map(is_finite, outputs[:1])) and all(map(_has_numbers, outputs[1:]))))
                and not loses_imaginary_part(values, outputs)
            )

        return self.probe.ask(accepted)

    def _counts_from_the_end(self, values: Sequence[Any], outputs: list[Tensor]) -> bool:
        """Whether negative dimensions mean the same as those from the end: some kernels read sizes at them as they
        are, which not all values show. So do operators that add a dimension, but with another shape."""
        rank = next((each.dim() for each in tensors(list(values))), 0)
        of_dims = [DIM.fullmatch(each.name) is not None for each in self.arguments]
        counted = [_counted(value, rank) if is_dim else value for value, is_dim in zip(values, of_dims)]
        if all(map(same, counted, values)):
            return True
        pairs = list(zip(outputs, self.outputs(counted) or ()))
        alike = any(one.shape != other.shape for one, other in pairs) or all(_alike(*each) for each in pairs)
        self._takes_negative &= alike
        return self._takes_negative

    def _fits_scales(self, values: Sequence[Any]) -> bool:
        """Whether factors of sizes give the output's: their kernels do not check, and read past what is there."""
        named = {each.name: value for each, value in zip(self.arguments, values)}
        scales = [each for each in _SCALES if named.get(each) is not None]
        if not scales or "output_size" not in named:
            return True
        before, after = named.get("input_size") or next(tensors(list(values))).shape, named["output_size"]
        places = [_SCALES[each] for each in scales]
        return after is None or all(
            int(before[place] * named[each]) == after[place]
            for each, place in zip(scales, places)
            if -place <= min(len(before), len(after))
        )

    def accepts_layout(self, values: Sequence[Any]) -> bool:
        """Whether the operator takes these values, and returns the same as for contiguous ones: some kernels read
        memory without a look at strides."""

        def accepted() -> bool:
            outputs, wanted = self.outputs(values), self.outputs(mapped(Tensor.contiguous, values))
            if outputs is None or wanted is None or not all(map(is_finite, outputs)):
                return False
            return all(map(_alike, outputs, wanted)) and not loses_imaginary_part(values, outputs)

        return self.probe.ask(accepted)


def _counted(value: Any, rank: int) -> Any:
    """A dimension, or a list of them, counted from the start."""
    if isinstance(value, list):
        return [_counted(each, rank) for each in value]
    return value + rank if type(value) is int and value < 0 else value


def _alike(one: Tensor, other: Tensor) -> bool:
    return one.layout != torch.strided or torch.allclose(one, other, equal_nan=True)


def loses_imaginary_part(values: Sequence[Any], outputs: list[Tensor]) -> bool:
    """Whether complex tensors next to real ones give real ones: some kernels cast what they should refuse."""
    inputs = {each.is_complex() for each in tensors(list(values)) if is_float(each)}
    floats = [each for each in outputs if is_float(each)]
    return len(inputs) == 2 and bool(floats) and not any(each.is_complex() for each in floats)


def guarded(tensor: Tensor) -> Tensor:
    """A copy with the same strides, between elements that spoil what is computed from them."""
    if tensor.layout != torch.strided or tensor.is_conj() or tensor.is_neg() or not tensor.numel():
        return tensor.clone()
    extent = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    filler = math.nan if is_float(tensor) else tensor.dtype != torch.bool and -7
    memory = torch.full((extent + 2 * GUARD,), filler, dtype=tensor.dtype)
    memory[GUARD:-GUARD] = tensor.detach().as_strided((extent,), (1,), tensor.storage_offset())
    return memory.as_strided(tensor.shape, tensor.stride(), GUARD)


def tensors(value: Any) -> Iterator[Tensor]:
    """All tensors in a value: itself, or those of lists and tuples."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from tensors(each)


def mapped(function: Callable[[Tensor], Tensor], value: Any) -> Any:
    """A value with each of its tensors, also in lists and tuples, replaced by what `function` returns."""
    return pytree.tree_map_only(Tensor, function, value)


def replaced(values: Values, places: Mapping[int, Any]) -> Values:
    """The values of a call with others in some places."""
    return tuple(places.get(place, value) for place, value in enumerate(values))


def is_float(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def tracked(value: Any) -> Any:
    """A value whose tensors require a gradient: those that do are the same, with their graph and tangent."""

    def own(tensor: Tensor) -> Tensor:
        return tensor if tensor.requires_grad or not is_float(tensor) else tensor.detach().requires_grad_()

    return mapped(own, value)


def weighted(
    values: Gradients, weights: Gradients, inputs: Sequence[Tensor], *, graph: bool = False
) -> list[Tensor | None]:
    """The gradients, by inputs, of the inner product of values with `weights`. `graph`: whether one of them is kept."""
    pairs = [(a, w) for a, w in zip(values, weights) if a is not None and w is not None and a.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    own, of = [a for a, _ in pairs], [w for _, w in pairs]
    return list(torch.autograd.grad(own, inputs, of, create_graph=graph, allow_unused=True))


def members_of(value: Any) -> list[Tensor | None]:
    """An output as the engine counts it: itself, None if it is undefined, or the members of a list."""
    return [each if isinstance(each, Tensor) else None for each in (value if is_list(value) else [value])]


def is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def is_finite(tensor: Tensor) -> bool:
    return tensor.layout != torch.strided or not is_float(tensor) or bool(tensor.isfinite().all())


def _has_numbers(tensor: Tensor) -> bool:
    return is_finite(tensor) or not tensor.isnan().any()


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same, tensors by what they contain and how they are laid out."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.dtype == other.dtype and one.stride() == other.stride() and torch.equal(one, other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)
