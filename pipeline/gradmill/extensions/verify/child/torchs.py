"""Torch's own formulas of an operator, called like those of a library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from gradmill.extensions.verify.child.call_at_sample import members_of, tracked, weighted
from gradmill.extensions.verify.child.calls import SEED
from gradmill.extensions.verify.child.formulas import (
    Args,
    FormulaError,
    Formulas,
    Gradients,
    NotImplementedFormula,
    Tangents,
    dense,
    dual,
    tangent,
)


class TorchFormulas(Formulas):
    """The formulas of the installed torch."""

    is_torchs = True

    def gradients(self, args: Args, results: Sequence[Any], cotangents: Gradients, needs: Sequence[bool]) -> Gradients:
        graph = torch.is_grad_enabled()
        needed = {place for place, flag in zip(self.places, needs) if flag}
        with torch.enable_grad(), _of_formula():
            passed = tuple(tracked(each, graph=graph) if i in needed else each for i, each in enumerate(args))
            slots = [each for place in self.places for each in members_of(passed[place])]
            wanted = [each for each in slots if each is not None and each.requires_grad]
            flags = zip(self._results(passed), self.differentiable)
            roots = [each for result, flag in flags if flag for each in members_of(result)]
            known = [(a, w) for a, w in zip(roots, cotangents) if a is not None and w is not None]
            if not known or not wanted:
                return [None] * len(slots)
            if not any(a.requires_grad for a, _ in known):
                raise NotImplementedFormula("torch has no derivative of it")
            found = weighted([a for a, _ in known], [w for _, w in known], wanted, graph=graph)
        by_tensor = {id(tensor): each for tensor, each in zip(wanted, dense(found))}
        return [None if each is None else by_tensor.get(id(each)) for each in slots]

    def _results(self, args: Args) -> list[Any]:
        torch.default_generator.manual_seed(SEED)
        return self.listed(self.function(args)[0])

    def outputs_tangents(self, args: Args, results: Sequence[Any], tangents: Sequence[Any]) -> Tangents:
        duals = [each if move is None else dual(each.detach().clone(), move) for each, move in zip(args, tangents)]
        wanted = {name for each in self.tangents for name in each["outputs"]}
        with _of_formula():
            return {
                name: [None if each is None else tangent(each) for each in members_of(output)]
                for name, output in zip(self.outputs, self._results(tuple(duals)))
                if name in wanted or len(self.outputs) == 1
            }


@contextmanager
def _of_formula() -> Iterator[None]:
    """Raises an error of torch as one of the formula; another one if torch has no such formula."""
    try:
        yield
    except (RuntimeError, NotImplementedError) as error:
        lacks = "not implemented" in str(error) or "not been implemented" in str(error)
        raise (NotImplementedFormula if lacks else FormulaError)(str(error)) from None
