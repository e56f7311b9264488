"""Whether a wrong formula can change a value, asked of torch alone: by its own derivatives of the operator at samples.

A formula of a gradient that is zero may get any factor, and `conj` changes nothing where no complex numbers are taken.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from gradmill.extensions.verify.child.calls import is_float, mapped, tensors
from gradmill.extensions.verify.child.operators import function_of
from gradmill.extensions.verify.child.samples import samples

Args = tuple[Any, ...]
_LIMIT = 16  # samples


class Effects:
    """What derivatives an operator has by torch: `schema` is its text, `folder` keeps samples."""

    def __init__(self, schema: str, folder: Path) -> None:
        self._schema = torch._C.parse_schema(f"aten::{schema}")
        self._names = [each.name for each in self._schema.arguments]
        operator = f"aten::{schema.partition('(')[0]}"
        self._function = function_of(operator, self._schema, {})
        found = samples(self._function, self._schema, folder=folder, limit=_LIMIT)
        self._samples = [each.args for each in found if each.kind == "plain"]

    def why_none_of_a_factor(self, key: str, *, forward: bool) -> str:
        """Why a factor of the formula changes nothing; "" if it may."""
        if forward:
            return _all_zero(map(self._tangents, self._samples), "the tangents are zero")
        names = key.split(", ")
        return _all_zero((self._gradients(args, names) for args in self._samples), "the gradients are zero")

    def why_none_of_a_tangent(self, name: str) -> str:
        """Why it changes nothing to drop an input's tangent."""
        found = (self._tangents(args, (name,)) for args in self._samples)
        return _all_zero(found, f"the outputs do not depend on {name}")

    def why_none_of_detach(self, key: str, name: str) -> str:
        """Why it changes nothing to detach an input in the formula of `key`, or an output, which all inputs are for."""
        own = [name] if name in self._names else self._names
        found = [self._second(args, key.split(", "), own) for args in self._samples]
        if found and all(each is None for each in found):
            return "torch has no second derivatives of it"
        return _all_zero(found, f"the gradients do not depend on {name}")

    def why_none_of_conj(self) -> str:
        """Why `conj` changes nothing."""
        complex_ = (args for sample in self._samples for args in _complex(sample, self._schema.arguments))
        found = [self._gradients(args, self._names) or () for args in complex_]
        taken = any(each.is_complex() and bool(each.imag.any()) for gradients in found for each in gradients)
        return "torch does not differentiate it for complex numbers" if found and not taken else ""

    def _gradients(self, args: Args, names: Collection[str]) -> list[Tensor] | None:
        return _answer(lambda: [each.detach() for each in self._graph(args, names)[0]])

    def _second(self, args: Args, names: Collection[str], by: Collection[str]) -> list[Tensor] | None:
        """The derivatives of the gradients for `names` by the inputs `by`."""

        def found() -> list[Tensor]:
            gradients, values = self._graph(args, names)
            roots = [each for each in gradients if each.requires_grad]
            inputs = [each for name in by for each in tensors(values[self._names.index(name)]) if each.requires_grad]
            weights = [torch.randn_like(each) for each in roots]
            return _known(torch.autograd.grad(roots, inputs, weights, allow_unused=True) if roots and inputs else ())

        return _answer(found)

    def _graph(self, args: Args, names: Collection[str]) -> tuple[list[Tensor], list[Any]]:
        """The gradients for inputs in a graph, and the arguments."""
        values = [mapped(_tracked, each) for each in args]
        outputs = [each for each in self._outputs(values) if each.requires_grad]
        inputs = [each for name in names for each in tensors(values[self._names.index(name)]) if each.requires_grad]
        weights = [torch.randn_like(each).requires_grad_() for each in outputs]
        found = torch.autograd.grad(outputs, inputs, weights, create_graph=True, allow_unused=True)
        return _known(found), values

    def _tangents(self, args: Args, names: Collection[str] = ()) -> list[Tensor] | None:
        """The tangents of the outputs for those of some inputs, or of all."""

        def dual(tensor: Tensor) -> Tensor:
            return forward_ad.make_dual(tensor.clone(), torch.randn_like(tensor)) if is_float(tensor) else tensor

        def found() -> list[Tensor]:
            with forward_ad.dual_level():
                moved = [mapped(dual, v) if not names or name in names else v for name, v in zip(self._names, args)]
                return _known(forward_ad.unpack_dual(each).tangent for each in self._outputs(moved))

        return _answer(found)

    def _outputs(self, values: Iterable[Any]) -> list[Tensor]:
        torch.default_generator.manual_seed(1)
        return [each for each in tensors(self._function(tuple(values))[0]) if is_float(each)]


def _known(found: Iterable[Tensor | None]) -> list[Tensor]:
    return [each for each in found if each is not None]


def _tracked(tensor: Tensor) -> Tensor:
    return tensor.detach().clone().requires_grad_() if is_float(tensor) else tensor


def _answer(question: Callable[[], list[Tensor]]) -> list[Tensor] | None:
    """The answer; None if torch refuses it."""
    try:
        return question()
    except (RuntimeError, NotImplementedError, ValueError):
        return None


def _all_zero(found: Iterable[list[Tensor] | None], reason: str) -> str:
    """The reason if torch takes samples, and all values are zero at each of them."""
    answers = [each for each in found if each is not None]
    return reason if answers and not any(map(_is_not_zero, itertools.chain(*answers))) else ""


def _is_not_zero(tensor: Tensor) -> bool:
    return bool(tensor.to(torch.complex128).abs().nan_to_num(0).any())


def _complex(args: Args, arguments: list[Any]) -> Iterator[Args]:
    """The arguments with complex tensors, complex numbers, and both."""
    numbers = [str(each.real_type) in ("number", "Optional[number]") for each in arguments]

    def tensor(each: Tensor) -> Tensor:
        return torch.complex(each, 0.5 - each / 4) if each.dtype == torch.float64 else each

    for of_tensors, of_numbers in ((True, False), (False, True), (True, True)):
        yield tuple(
            (complex(value or 1) * (1 + 0.5j) if value is not None else None)
            if is_number and of_numbers
            else mapped(tensor, value)
            if of_tensors
            else value
            for is_number, value in zip(numbers, args)
        )
