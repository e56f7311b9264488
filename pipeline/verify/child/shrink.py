"""Makes the sample of a finding smaller, as long as the finding remains."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from pipeline.verify.child import checks, own
from pipeline.verify.child.checks import Finding
from pipeline.verify.child.formulas import Args, Formulas, Overwritten
from pipeline.verify.child.point import Point
from pipeline.verify.child.samples import Sample
from pipeline.verify.child.torchs import TorchFormulas
from pipeline.verify.child.written import written

_TRIES = 40
_ONLY = {checks.second: "second", written: "gradient where"}  # long checks: for those findings alone


def shrunk(formulas: Formulas, torchs: TorchFormulas | None, finding: Finding, sample: Sample) -> tuple[Finding, Args]:
    """The finding at the smallest arguments that have it, of those tried, and at which `torchs` has none."""
    best = finding, sample.args
    tries = 0
    progress = True
    while progress and tries < _TRIES:
        progress = False
        for args in _smaller(best[1]):
            tries += 1
            again = _found(formulas, torchs, finding, args)
            if again is not None:
                best, progress = (again, args), True
                break
            if tries >= _TRIES:
                break
    return best


def _found(formulas: Formulas, torchs: TorchFormulas | None, finding: Finding, args: Args) -> Finding | None:
    """The same kind of finding at other arguments; None if there is none."""
    try:
        point = Point(formulas, args)
        for check in (checks.gradient, checks.tangents, checks.masks, checks.undefined, *_ONLY):
            if check in _ONLY and not finding.check.startswith(_ONLY[check]):
                continue
            possible = formulas.tangents if check is checks.tangents else formulas.has_backward
            for each in check(point) if possible else ():
                if each.check == finding.check and each.name.partition("[")[0] == finding.name.partition("[")[0]:
                    return None if torchs is not None and own.is_shared(check, Point(torchs, args)) else each
        if finding.check.startswith("torch's own") and torchs is not None:
            found = own.differences(point, Point(torchs, args))
            return next((each for each in found if each.check == finding.check), None)
    except Overwritten as error:
        return finding if (finding.check, finding.name) == ("overwritten", str(error)) else None
    except Exception:
        return None
    return None


def _smaller(args: Args) -> Iterator[Args]:
    """Arguments with a dimension of every tensor that has its size cut to one element; then with rounded numbers."""
    tensors = _tensors(args)
    sizes = sorted({size for tensor in tensors for size in tensor.shape if size > 1}, reverse=True)
    for size in sizes:
        for place in range(max(tensor.dim() for tensor in tensors)):
            if any(tensor.dim() > place and tensor.shape[tensor.dim() - 1 - place] == size for tensor in tensors):
                yield pytree.tree_map_only(Tensor, partial(_cut, size=size, place=place), args)
    rounded = pytree.tree_map_only(Tensor, _rounded, args)
    if any(not torch.equal(a, b) for a, b in zip(tensors, _tensors(rounded))):
        yield rounded


def _tensors(args: Args) -> list[Tensor]:
    return [each for each in pytree.tree_leaves(args) if isinstance(each, Tensor)]


def _cut(tensor: Tensor, size: int, place: int) -> Tensor:
    """The first element along a dimension counted from the last one, if it has this size."""
    dim = tensor.dim() - 1 - place
    return tensor.narrow(dim, 0, 1) if dim >= 0 and tensor.shape[dim] == size else tensor


def _rounded(tensor: Tensor) -> Tensor:
    return (tensor * 4).round() / 4 if tensor.is_floating_point() else tensor
